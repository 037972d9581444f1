"""QR logins in progress, in Redis: what a person is shown, and which step comes next."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import cast

from wechat_bridge.model.login import QrLogin
from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient, broker_call, script

IN_HASH = {"step", "next_at", "number"}
"""What stands beside the state, where scripts change it."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class LoginStore:
    """One hash for each channel. Every method raises BrokerUnavailable when Redis cannot be used.

    A step is taken and its result written only while the login stands at the step that is known, so of several who do
    the same one counts, and a process that was frozen changes nothing when it wakes.
    """

    def __init__(self, client: RedisClient, lifetime_seconds: float) -> None:
        self._client = client
        self._lifetime_ms = int(lifetime_seconds * 1000)
        self._open = script(client, "login_open")
        self._step = script(client, "login_step")
        self._number = script(client, "login_number")

    @broker_call
    def open(self, login: QrLogin, ring_at: datetime) -> bool:
        """Begin a login; False when the channel has one in progress at the same server."""
        times = [_ms(login.next_at), _ms(ring_at), self._lifetime_ms]
        return bool(
            self._open(
                keys=_keys(login.share_id), args=[login.share_id, login.id, login.api_base, _state(login), *times]
            )
        )

    @broker_call
    def get(self, share_id: str) -> QrLogin | None:
        """Return the login of a channel, in progress or lately ended."""
        fields = cast("dict[str, str]", self._client.hgetall(redis_keys.login_qr(share_id)))
        return _login(fields) if fields else None

    @broker_call
    def take(self, share_id: str, login_id: str, step: int, until: datetime) -> QrLogin | None:
        """Take a step, to be done before ``until``; return the login, or None when it stands elsewhere."""
        return self._go(share_id, login_id, step, until, until, "", "", 0)

    @broker_call
    def write(self, taken: QrLogin, login: QrLogin, next_at: datetime, ring_at: datetime) -> QrLogin | None:
        """Write what a taken step made of a login; return it as stored, or None when somebody else has gone on."""
        judged = taken.number if not login.number else ""
        lifetime_ms = self._lifetime_ms if login.has_ended else 0
        return self._go(login.share_id, taken.id, taken.step, next_at, ring_at, _state(login), judged, lifetime_ms)

    @broker_call
    def submit_number(self, share_id: str, login_id: str, number: str) -> bool:
        """Keep the number that the phone shows; False when the login has ended."""
        return bool(self._number(keys=[redis_keys.login_qr(share_id)], args=[login_id, number]))

    @broker_call
    def forget(self, share_id: str) -> None:
        """End the login of a channel, if there is one, without a trace."""
        self._client.delete(redis_keys.login_qr(share_id))
        self._client.zrem(redis_keys.LOGINS, share_id)

    @broker_call
    def overdue(self, now: datetime, limit: int) -> list[QrLogin]:
        """Return logins in progress whose next step should have begun; those that are gone leave the list."""
        names = cast("list[str]", self._client.zrangebyscore(redis_keys.LOGINS, "-inf", _ms(now), 0, max(0, limit)))
        found = {share_id: self.get(share_id) for share_id in names}
        gone = [share_id for share_id, login in found.items() if login is None or login.has_ended]
        if gone:
            self._client.zrem(redis_keys.LOGINS, *gone)
        return [login for login in found.values() if login is not None and not login.has_ended]

    @broker_call
    def rang(self, share_id: str, next_ring_at: datetime) -> None:
        """Note that a doorbell for the login's next step is on its way."""
        self._client.zadd(redis_keys.LOGINS, {share_id: _ms(next_ring_at)}, xx=True)

    def _go(
        self, share_id: str, login_id: str, step: int, next_at: datetime, ring_at: datetime, state: str, judged: str,
        lifetime_ms: int,
    ) -> QrLogin | None:  # fmt: skip
        args = [share_id, login_id, step, _ms(next_at), _ms(ring_at), state, judged, lifetime_ms]
        flat: Sequence[str] = self._step(keys=_keys(share_id), args=args)
        return _login(dict(zip(flat[::2], flat[1::2], strict=True))) if flat else None


def _keys(share_id: str) -> list[str]:
    return [redis_keys.login_qr(share_id), redis_keys.LOGINS]


def _state(login: QrLogin) -> str:
    return login.model_dump_json(exclude=IN_HASH)


def _login(fields: Mapping[str, str]) -> QrLogin:
    beside = {
        "step": int(fields["step"]),
        "next_at": EPOCH + timedelta(milliseconds=int(fields["next_at"])),
        "number": fields.get("number", ""),
    }
    return QrLogin.model_validate({**json.loads(fields["state"]), **beside})


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
