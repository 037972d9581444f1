"""Calling the control API of a simulated server."""

from __future__ import annotations

from typing import Any, Self

import requests

from wechat_bridge.simulators.json_types import Json

# Added to the time a command may wait, for the way there and back.
ANSWER_SECONDS = 10.0


class ControlCallError(Exception):
    """A control command was refused or cannot be answered; the message is the server's."""


class ControlConnection:
    """One connection to the control API of a running simulator."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url.rstrip("/")
        self._session = requests.Session()
        # No proxy of the environment stands between this machine and itself.
        self._session.trust_env = False

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def rows(self, command: str, wait_seconds: float | None = None, **parameters: Any) -> list[Json]:
        """Run a command that answers with a list."""
        rows: list[Json] = self.call(command, wait_seconds, **parameters)
        return rows

    def row(self, command: str, **parameters: Any) -> Json:
        """Run a command that answers with an object."""
        row: Json = self.call(command, **parameters)
        return row

    def call(self, command: str, wait_seconds: float | None = None, **parameters: Any) -> Any:
        """Run a command.

        Raises:
            ControlCallError: it is refused.
            requests.RequestException: the server does not answer.
        """
        if wait_seconds is not None:
            parameters["timeout_seconds"] = wait_seconds
        url, timeout_seconds = f"{self.base_url}/_control/{command}", (wait_seconds or 0.0) + ANSWER_SECONDS
        response = self._session.post(url, json=parameters, timeout=timeout_seconds)
        if response.status_code == requests.codes.ok:
            return response.json()
        raise ControlCallError(f"{command}: {response.text}")
