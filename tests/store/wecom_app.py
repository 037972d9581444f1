"""An app of WeCom whose tokens are asked for, and what stands for WeCom."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from itertools import count

import pytest

from wechat_bridge.errors import BridgeError, CredentialRefused
from wechat_bridge.model.wecom import AccessToken
from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.wecom_tokens import WecomTokens

WRONG = CredentialRefused("WeCom refuses gettoken with 40001", 40001)
_corps = count(1)


class Asking:
    """Stands for WeCom: gives t1, t2, ..., or fails with the next of ``failures``; counts who asks."""

    def __init__(self, expires_in_seconds: int = 7200) -> None:
        self.asked = 0
        self.failures: list[BridgeError] = []
        self.expires_in_seconds = expires_in_seconds
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.began = threading.Semaphore(0)
        self._lock = threading.Lock()

    def __call__(self) -> AccessToken:
        with self._lock:
            self.asked += 1
            number = self.asked
        self.began.release()
        assert self.may_answer.wait(20)
        if self.failures:
            raise self.failures.pop(0)
        return AccessToken(f"t{number}", self.expires_in_seconds)


class App:
    """One app, as one process or several see it."""

    def __init__(self, client: RedisClient) -> None:
        self.client = client
        self.corp_id = f"wwtokens{next(_corps)}"
        self.ask = Asking()
        self.tokens = WecomTokens(client)

    @property
    def key(self) -> str:
        return redis_keys.wecom_token(self.corp_id, "7", "mark")

    def get(self, refused: str = "", ask: Callable[[], AccessToken] | None = None, mark: str = "mark") -> str:
        return self.tokens.get(self.corp_id, "7", mark, ask or self.ask, refused)

    def other_process(self) -> WecomTokens:
        return WecomTokens(self.client)

    def let_pass(self, *moments: str) -> None:
        """Make these moments of the key lie in the past."""
        self.client.hset(self.key, mapping=dict.fromkeys(moments, 0))

    def shut_seconds(self) -> float:
        """For how long nobody may ask."""
        return float(str(self.client.hget(self.key, "shut_until"))) / 1000 - time.time()


@pytest.fixture
def app(redis_client: RedisClient) -> App:
    """An app that nobody has asked for."""
    return App(redis_client)
