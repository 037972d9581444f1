"""QR logins in a real Redis: one in progress for each channel, and one who does each step."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.together import together
from wechat_bridge.model.login import LoginPhase, QrLogin, done
from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.logins import LoginStore

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LIFETIME_SECONDS = 480.0


@pytest.fixture
def logins(redis_client: RedisClient) -> LoginStore:
    """The store under test."""
    return LoginStore(redis_client, LIFETIME_SECONDS)


def new(share_id: str, **fields: Any) -> QrLogin:
    values: dict[str, Any] = {
        "id": "first", "share_id": share_id, "api_base": "https://h", "base_url": "https://h",
        "ends_at": after(480), "next_at": NOW,
    }  # fmt: skip
    return QrLogin(**(values | fields))


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def left_seconds(redis_client: RedisClient, key: str) -> float:
    return float(str(redis_client.pttl(key))) / 1000


def test_a_login_lives_480_s_and_is_found_as_it_was_stored(
    logins: LoginStore, redis_client: RedisClient, share_id: str
) -> None:
    assert logins.get(share_id) is None
    assert logins.open(new(share_id, link="l", qrcode="q"), NOW)
    assert logins.get(share_id) == new(share_id, link="l", qrcode="q")
    assert 475 < left_seconds(redis_client, redis_keys.login_qr(share_id)) <= 480
    assert 475 < left_seconds(redis_client, redis_keys.LOGINS) <= 480


def test_a_second_login_joins_the_first_unless_it_comes_from_another_server(logins: LoginStore, share_id: str) -> None:
    logins.open(new(share_id), NOW)
    assert not logins.open(new(share_id, id="second"), NOW)
    assert logins.open(new(share_id, id="third", api_base="https://other"), NOW)
    found = logins.get(share_id)
    assert found is not None
    assert (found.id, found.step) == ("third", 0)


def test_of_twenty_who_begin_a_login_one_does(logins: LoginStore, share_id: str) -> None:
    assert sum(together(20, lambda number: logins.open(new(share_id, id=f"l{number}"), NOW))) == 1


def test_of_twenty_who_take_a_step_one_gets_it(logins: LoginStore, share_id: str) -> None:
    logins.open(new(share_id), NOW)
    taken = [login for login in together(20, lambda _: logins.take(share_id, "first", 0, after(30))) if login]
    assert [login.step for login in taken] == [1]
    assert taken[0].next_at == after(30)


def test_what_a_step_brought_is_written_once_and_the_next_one_is_due(logins: LoginStore, share_id: str) -> None:
    logins.open(new(share_id), NOW)
    taken = logins.take(share_id, "first", 0, after(30))
    assert taken is not None
    changed = taken.model_copy(update={"phase": LoginPhase.SCAN, "link": "l", "qrcode": "q"})
    stored = logins.write(taken, changed, after(1), after(6))
    assert stored == changed.model_copy(update={"step": 2, "next_at": after(1)})
    assert logins.write(taken, changed, after(1), after(6)) is None
    assert logins.get(share_id) == stored


@pytest.mark.parametrize(("login_id", "step"), [("another", 0), ("first", 1)])
def test_a_doorbell_of_another_login_or_step_gets_nothing(
    logins: LoginStore, share_id: str, login_id: str, step: int
) -> None:
    logins.open(new(share_id), NOW)
    assert logins.take(share_id, login_id, step, after(30)) is None
    assert logins.take("nobody", "first", 0, after(30)) is None


def test_a_process_that_was_frozen_in_a_step_changes_nothing_when_it_wakes(logins: LoginStore, share_id: str) -> None:
    logins.open(new(share_id), NOW)
    frozen = logins.take(share_id, "first", 0, after(30))
    assert frozen is not None
    other = logins.take(share_id, "first", 1, after(60))
    assert other is not None
    assert logins.write(frozen, done(frozen).login, NOW, NOW) is None
    assert logins.write(other, other, NOW, NOW) is not None


def test_a_login_that_has_ended_stays_to_be_read_and_makes_room_for_a_new_one(
    logins: LoginStore, redis_client: RedisClient, share_id: str
) -> None:
    logins.open(new(share_id), NOW)
    taken = logins.take(share_id, "first", 0, after(30))
    assert taken is not None
    redis_client.pexpire(redis_keys.login_qr(share_id), 10_000)
    logins.write(taken, done(taken).login, NOW, NOW)
    ended = logins.get(share_id)
    assert ended is not None
    assert ended.phase is LoginPhase.DONE
    assert left_seconds(redis_client, redis_keys.login_qr(share_id)) > 475
    assert logins.take(share_id, "first", 2, after(30)) is None
    assert share_id not in [login.share_id for login in logins.overdue(after(3600), 100)]
    assert logins.open(new(share_id, id="second"), NOW)


def test_a_number_is_kept_until_it_is_judged_and_a_newer_one_beyond(logins: LoginStore, share_id: str) -> None:
    logins.open(new(share_id), NOW)
    assert logins.submit_number(share_id, "first", "1")
    taken = logins.take(share_id, "first", 0, after(30))
    assert taken is not None
    assert taken.number == "1"
    assert logins.submit_number(share_id, "first", "2")
    stored = logins.write(taken, taken.model_copy(update={"number": ""}), NOW, NOW)
    assert stored is not None
    assert stored.number == "2"
    taken = logins.take(share_id, "first", 2, after(30))
    assert taken is not None
    judged = logins.write(taken, taken.model_copy(update={"number": ""}), NOW, NOW)
    assert judged is not None
    assert judged.number == ""


def test_a_number_for_a_login_that_is_gone_makes_no_key(
    logins: LoginStore, redis_client: RedisClient, share_id: str
) -> None:
    assert not logins.submit_number(share_id, "first", "1")
    assert not redis_client.exists(redis_keys.login_qr(share_id))


def test_the_sweep_finds_what_is_overdue_and_not_what_was_just_rung(
    logins: LoginStore, redis_client: RedisClient, share_id: str
) -> None:
    def overdue(seconds: float) -> list[str]:
        return [login.share_id for login in logins.overdue(after(seconds), 100) if login.share_id == share_id]

    logins.open(new(share_id), after(5))
    assert (overdue(4), overdue(5)) == ([], [share_id])
    logins.rang(share_id, after(20))
    assert (overdue(19), overdue(20)) == ([], [share_id])
    redis_client.delete(redis_keys.login_qr(share_id))
    assert overdue(20) == []
    assert redis_client.zscore(redis_keys.LOGINS, share_id) is None
    logins.rang(share_id, after(20))
    assert redis_client.zscore(redis_keys.LOGINS, share_id) is None


def test_a_login_that_is_forgotten_leaves_nothing(logins: LoginStore, redis_client: RedisClient, share_id: str) -> None:
    logins.open(new(share_id), NOW)
    logins.forget(share_id)
    assert logins.get(share_id) is None
    assert redis_client.zscore(redis_keys.LOGINS, share_id) is None
