"""An app of the simulated WeCom per test, its receiver, and a bare client of qyapi."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from wechat_bridge.simulators.wecom import AppCredentials, WecomControl

from .receiver import Receiver

Json = dict[str, Any]
USER = "ZhangSan"


class Api:
    """Says qyapi's words to the simulator as one app."""

    def __init__(self, app: AppCredentials) -> None:
        self.app, self.key = app, app["app"]
        self.base_url = f"{app['api_base_url']}/cgi-bin"

    def gettoken(self, **changed: str) -> Json:
        parameters = {"corpid": self.app["corp_id"], "corpsecret": self.app["secret"], **changed}
        return self.read(requests.get(f"{self.base_url}/gettoken", params=parameters, timeout=10))

    def token(self) -> str:
        return str(self.gettoken()["access_token"])

    def post(self, path: str, body: Json, token: str | None = None, timeout_seconds: float = 10.0) -> Json:
        parameters = {"access_token": self.token() if token is None else token}
        data = json.dumps(body, ensure_ascii=False).encode()
        url = f"{self.base_url}/{path}"
        return self.read(requests.post(url, params=parameters, data=data, timeout=timeout_seconds))

    def get(self, path: str, headers: dict[str, str] | None = None, **parameters: str) -> requests.Response:
        parameters = {"access_token": self.token(), **parameters}
        return requests.get(f"{self.base_url}/{path}", params=parameters, headers=headers, timeout=10)

    def read(self, response: requests.Response) -> Json:
        """Every answer is HTTP 200 and says its code in the headers, too."""
        answer: Json = response.json()
        assert (response.status_code, response.headers["Error-Code"]) == (200, str(answer["errcode"]))
        return answer

    def text(self, text: str, user: str = USER, **fields: Any) -> Json:
        return {
            "touser": user,
            "msgtype": "text",
            "agentid": int(self.app["agent_id"]),
            "text": {"content": text},
            **fields,
        }

    def send(self, text: str, user: str = USER, token: str | None = None, **fields: Any) -> Json:
        return self.post("message/send", self.text(text, user, **fields), token)

    def upload(self, kind: str, data: bytes, filename: str = "a.bin", field: str = "media", **query: str) -> Json:
        parameters = {"access_token": self.token(), "type": kind, **query}
        files = {field: (filename, data, "application/octet-stream")}
        url = f"{self.base_url}/media/upload"
        return self.read(requests.post(url, params=parameters, files=files, timeout=10))


@pytest.fixture
def control(wecom: WecomControl) -> WecomControl:
    """The simulated WeCom, where the folder above has the simulated WeChat."""
    return wecom


@pytest.fixture
def api(control: WecomControl) -> Api:
    return Api(control.create_app())


@pytest.fixture
def receiver(control: WecomControl) -> Iterator[Receiver]:
    """A receiver that is the callback URL of its own app."""
    with Receiver() as running:
        running.credentials = control.create_app(callback_url=running.url)
        yield running


@pytest.fixture
def app(receiver: Receiver) -> str:
    """The key of the receiver's app."""
    assert receiver.credentials is not None
    return receiver.credentials["app"]
