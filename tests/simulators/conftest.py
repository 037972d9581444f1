"""A running iLink simulator per test module, and a bare client of the protocol for each test's own bot."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from wechat_bridge.simulators.ilink import IlinkControl, IlinkOptions, IlinkSimulator

Json = dict[str, Any]
USER = "oTESTuser0000000000000000001@im.wechat"
HEADERS = {
    "AuthorizationType": "ilink_bot_token",
    "X-WECHAT-UIN": base64.b64encode(b"1919581454").decode(),
    "iLink-App-Id": "bot",
    "iLink-App-ClientVersion": "132105",
}
BASE_INFO = {"channel_version": "2.4.9", "bot_agent": "Test/1.0.0"}


class BotClient:
    """Says the protocol to the simulator, with no wisdom of its own."""

    def __init__(self, control: IlinkControl, bot_id: str, token: str) -> None:
        self.control, self.base_url, self.bot_id, self.token = control, control.base_url, bot_id, token
        self._threads = ThreadPoolExecutor(8)

    def close(self) -> None:
        self._threads.shutdown()

    @property
    def headers(self) -> dict[str, str]:
        return {**HEADERS, "Authorization": f"Bearer {self.token}"}

    def post(self, endpoint: str, body: Json, timeout_seconds: float = 10.0) -> requests.Response:
        url = f"{self.base_url}/ilink/bot/{endpoint}"
        return requests.post(url, json={**body, "base_info": BASE_INFO}, headers=self.headers, timeout=timeout_seconds)

    def call(self, endpoint: str, body: Json, timeout_seconds: float = 10.0) -> Json:
        response = self.post(endpoint, body, timeout_seconds)
        assert response.status_code == 200, response.text
        answer: Json = response.json()
        return answer

    def poll(self, cursor: str = "", timeout_seconds: float = 10.0) -> Json:
        return self.call("getupdates", {"get_updates_buf": cursor}, timeout_seconds)

    def open_poll(self, cursor: str = "", open_polls: int = 1) -> Future[Json]:
        """Poll in another thread; returns once the server holds that many polls."""
        polling = self._threads.submit(self.poll, cursor)
        assert self.control.wait_for_open_polls(open_polls, self.bot_id) == open_polls
        return polling

    def raw_poll(self) -> socket.socket:
        """Poll over a bare socket; returns once the server holds it."""
        address = urlsplit(self.base_url)
        connection = socket.create_connection((address.hostname, address.port or 80), timeout=10)
        connection.sendall(self.raw_request("getupdates", {"get_updates_buf": ""}))
        assert self.control.wait_for_open_polls(1, self.bot_id) == 1
        return connection

    def raw_request(self, endpoint: str, body: Json) -> bytes:
        data = json.dumps({**body, "base_info": BASE_INFO}).encode()
        headers = {**self.headers, "Host": "x", "Content-Type": "application/json", "Content-Length": str(len(data))}
        lines = [f"POST /ilink/bot/{endpoint} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + data

    def send(self, text: str, context_token: str, client_id: str = "c-1", **fields: Any) -> Json:
        return self.call("sendmessage", {"msg": self.message(text, context_token, client_id, **fields)})

    def message(self, text: str, context_token: str, client_id: str = "c-1", **fields: Any) -> Json:
        message = {
            "from_user_id": "",
            "to_user_id": USER,
            "client_id": client_id,
            "message_type": 2,
            "message_state": 2,
            "context_token": context_token,
            "item_list": [{"type": 1, "text_item": {"text": text}}],
        }
        return {**message, **fields}

    def hear(self, *texts: str) -> list[Json]:
        """Let the user say these texts and receive them."""
        self.control.say(self.bot_id, USER, *texts)
        messages: list[Json] = self.poll()["msgs"]
        return messages


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has closed or reset a connection; closes this end too."""
    with connection:
        try:
            return connection.recv(1) == b""
        except ConnectionResetError:
            return True


@pytest.fixture(scope="module")
def simulator() -> Iterator[IlinkSimulator]:
    with IlinkSimulator(IlinkOptions(hold_seconds=5, qr_hold_seconds=5)) as running:
        yield running


@pytest.fixture
def control(simulator: IlinkSimulator) -> IlinkControl:
    simulator.control.reset()
    return simulator.control


@pytest.fixture
def bot(control: IlinkControl) -> Iterator[BotClient]:
    credentials = control.create_bot()
    client = BotClient(control, credentials["bot_id"], credentials["token"])
    yield client
    client.close()
