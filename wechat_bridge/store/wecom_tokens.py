"""Access tokens of WeCom's apps in Redis: one process asks, all use what it gets.

- **Single flight.** Whoever finds no good token takes a lease and asks; the others wait for its answer. A holder that
  died is replaced when its lease has run out.
- **Early renewal.** Some minutes before a token ends, one reader asks for the next while all others go on with the old
  one, and so does it where the question fails.
- **Fence.** Every question has a version; an answer to an older one changes nothing (field report 42).
- **One token's error is that token's.** A refused token is dropped only while it is the one that is kept, and one that
  was renewed for that reason is not renewed again at once: WeCom counts questions.
- **Failures are shared.** After one nobody asks for a while: seconds where it may pass by itself, a minute to an hour
  where WeCom does not know the secret, since it bans an address that keeps trying.
- **Without Redis** a process goes on with the last good token it has seen. For want of one it does not ask: processes
  that cannot speak to each other would ask all at once. The work is retried when Redis is back.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from wechat_bridge.errors import (
    BridgeError,
    BrokerUnavailable,
    PlatformUnavailable,
)
from wechat_bridge.model.wecom import AccessToken
from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient, broker_call, script
from wechat_bridge.store.wecom_refusals import pause_of, remembered, written

LEASE_SECONDS = 10.0
"""Longer than a question takes with its timeouts."""

WAIT_SECONDS = 12.0
"""Longer than a lease, so that whoever waited for a dead holder takes over."""

SLACK_SECONDS = 300.0
"""A token is not used in its last five minutes (or tenth, where it lives short): a request takes time."""

EARLY_SECONDS = 600.0
"""So long before that, or a fifth of its life, the next one is asked for."""

_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What Redis says is to be done: use, ask, wait, shut or again; ``seconds`` for how long that holds."""

    what: str
    token: str
    version: int
    seconds: float
    reason: str


class WecomTokens:
    """One key for each app and secret; shared by all threads of a process."""

    def __init__(self, client: RedisClient) -> None:
        self._token = script(client, "wecom_token")
        self._seen: dict[str, tuple[str, float]] = {}
        self._lock = threading.Lock()

    def get(self, corp_id: str, agent_id: str, mark: str, ask: Callable[[], AccessToken], refused: str = "") -> str:
        """Return the token of an app; see AccessTokens in the doors of WeCom.

        Raises what ``ask`` raised, here or lately in any process, PlatformUnavailable when whoever asks does not come
        back, and BrokerUnavailable when Redis cannot be used and no good token is known.
        """
        key = redis_keys.wecom_token(corp_id, agent_id, mark)
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                verdict = self._look(key, refused)
            except BrokerUnavailable:
                return self._last_seen(key, refused)
            if verdict.what == "use":
                return self._see(key, verdict.token, verdict.seconds)
            if verdict.what == "ask":
                return self._asked(key, verdict, ask)
            if verdict.what != "wait":
                raise _shut(verdict)
            if time.monotonic() > deadline:
                raise PlatformUnavailable("no access token of WeCom: who asks for it does not come back")
            refused = ""  # it is gone; if WeCom gives it again, it is to be tried
            time.sleep(min(verdict.seconds, _PAUSE_SECONDS))

    def _asked(self, key: str, verdict: _Verdict, ask: Callable[[], AccessToken]) -> str:
        try:
            fresh = ask()
        except BridgeError as error:
            with suppress(BrokerUnavailable):  # then others may ask as soon as the lease has run out
                self._fail(key, verdict.version, error)
            if verdict.token:
                return verdict.token  # it was to be renewed early and is good still
            raise
        good = fresh.expires_in_seconds - min(SLACK_SECONDS, fresh.expires_in_seconds / 10)
        with suppress(BrokerUnavailable):  # then it is known to this process only
            if not self._store(key, verdict.version, fresh.token, good):
                return self._newer(key, fresh.token)
        return self._see(key, fresh.token, good)

    def _newer(self, key: str, ours: str) -> str:
        """Return the token that somebody got who asked after us."""
        found = self._look(key, "")
        return found.token or ours

    def _see(self, key: str, token: str, seconds: float) -> str:
        with self._lock:
            self._seen[key] = token, time.monotonic() + seconds
        return token

    def _last_seen(self, key: str, refused: str) -> str:
        with self._lock:
            token, until = self._seen.get(key, ("", 0.0))
        if not token or token == refused or time.monotonic() >= until:
            raise BrokerUnavailable("Redis cannot be used and this process knows no good access token of WeCom")
        return token

    @broker_call
    def _look(self, key: str, refused: str) -> _Verdict:
        what, token, version, ms, reason = self._token(keys=[key], args=["look", refused, int(LEASE_SECONDS * 1000)])
        return _Verdict(what, token, int(version), int(ms) / 1000, reason)

    @broker_call
    def _store(self, key: str, version: int, token: str, good_seconds: float) -> bool:
        good_ms = int(good_seconds * 1000)
        renew_ms = good_ms - int(min(EARLY_SECONDS * 1000, good_ms / 5))
        return bool(self._token(keys=[key], args=["store", version, token, good_ms, renew_ms]))

    @broker_call
    def _fail(self, key: str, version: int, error: BridgeError) -> None:
        kind, first, most, hold = pause_of(error)
        times = [int(seconds * 1000) for seconds in (first, most, hold)]
        self._token(keys=[key], args=["fail", version, kind, *times, written(error)])


def _shut(verdict: _Verdict) -> BridgeError:
    """Return the error of a question that is not asked."""
    if verdict.what == "again":
        return PlatformUnavailable(
            "WeCom refuses the access token that it gave a moment ago; a new one is not asked for yet", verdict.seconds
        )
    return remembered(verdict.reason, verdict.seconds)
