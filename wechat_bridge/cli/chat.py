"""Be the person of the demo."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol

import requests

from wechat_bridge.errors import BridgeError, ServiceNotReachable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model import keys
from wechat_bridge.model.turn import TERMINAL, TurnState
from wechat_bridge.simulators.control_client import ControlCallError

PAUSE_SECONDS = 0.05


class NoAnswer(BridgeError):
    """The bot did not answer; the message says why."""


class Person(Protocol):
    """Somebody at a simulated platform, of which people speak as ``platform``.

    Methods raise what the platform's control raises.
    """

    platform: str

    def say(self, text: str) -> str:
        """Write a message; return the id that it has in the inbox, behind the name of the channel."""
        ...

    def seen(self, after: int) -> list[dict[str, Any]]:
        """Return what was shown to the person beyond the first ``after``: ``text``, and ``at`` in Unix seconds."""
        ...


@dataclass
class Answer:
    """One message of the bot, and how long after the question it was there."""

    text: str
    seconds: float


class Chat:
    """One person talking to one channel."""

    def __init__(self, bridge: Bridge, person: Person, share_id: str) -> None:
        self._bridge = bridge
        self._person = person
        self._share_id = share_id
        self._seen = 0

    def ask(self, text: str, seconds: float) -> list[Answer]:
        """Write a message; return what the bot answers. Raises NoAnswer, ServiceNotReachable, LedgerUnavailable."""
        asked_at = time.time()
        try:
            message_id = self._person.say(text)
            self._wait(keys.turn_id(self._share_id, message_id), seconds)
            rows = self._person.seen(self._seen)
        except (requests.RequestException, ControlCallError) as error:
            raise ServiceNotReachable(f"the simulated {self._person.platform} does not answer ({error})") from None
        self._seen += len(rows)
        return [Answer(str(row["text"]), float(row["at"]) - asked_at) for row in rows]

    def _wait(self, turn_id: str, seconds: float) -> None:
        """Wait until the turn of the message has ended."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            turn = self._bridge.turns.get(turn_id)
            if turn is not None and turn.state in TERMINAL | {TurnState.PARKED}:
                if turn.state is TurnState.SENT:
                    return
                raise NoAnswer(f"the turn is {turn.state.value}: {turn.error or turn.park_reason}")
            time.sleep(PAUSE_SECONDS)
        raise NoAnswer(f"no answer within {seconds:.0f} s")
