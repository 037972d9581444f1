"""Questions for an access token whose answers come late, and renewals while others read (field report 42)."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.store.wecom_app import WRONG, App, Asking, app
from tests.support.together import together
from wechat_bridge.errors import (
    CredentialRefused,
)

__all__ = ["app"]


# an older answer never wins (field report 42)


def running(app: App, ask: Asking, refused: str = "") -> tuple[ThreadPoolExecutor, Future[str]]:
    """Let another process ask; return when it does."""
    pool = ThreadPoolExecutor(1)
    other = app.other_process()
    future = pool.submit(other.get, app.corp_id, "7", "mark", ask, refused)
    assert ask.began.acquire(timeout=10)
    return pool, future


def test_an_answer_that_was_delayed_does_not_overwrite_a_newer_one(app: App) -> None:
    late = Asking()
    late.may_answer.clear()
    pool, future = running(app, late)
    app.let_pass("lease_until")  # its process stood still for longer than its lease
    app.ask.asked = 10
    assert app.get() == "t11"
    late.may_answer.set()
    assert future.result(10) == "t11"  # nobody goes on with the older one
    pool.shutdown()
    assert app.get() == "t11"
    assert late.asked == 1


def test_a_failure_that_was_delayed_does_not_shut_what_works_again(app: App) -> None:
    late = Asking()
    late.may_answer.clear()
    late.failures = [WRONG]
    pool, future = running(app, late)
    app.let_pass("lease_until")
    assert app.get() == "t1"
    late.may_answer.set()
    with pytest.raises(CredentialRefused):
        future.result(10)
    pool.shutdown()
    assert app.client.hexists(app.key, "shut_until") == 0


def test_an_answer_to_a_question_from_before_a_flush_of_redis_loses_to_a_newer_one(app: App) -> None:
    app.client.hset(app.key, "version", 5)
    late = Asking()
    late.may_answer.clear()
    pool, future = running(app, late)
    app.client.delete(app.key)
    app.ask.asked = 10
    assert app.get() == "t11"
    late.may_answer.set()
    assert future.result(10) == "t11"
    pool.shutdown()


def test_readers_go_on_with_the_old_token_while_one_renews_it_early(app: App) -> None:
    app.get()
    app.let_pass("renew_at")
    renewing = Asking()
    renewing.may_answer.clear()
    renewing.asked = 10
    pool, future = running(app, renewing)
    assert set(together(10, lambda _: app.get())) == {"t1"}  # no gap, no wait
    renewing.may_answer.set()
    assert future.result(10) == "t11"
    pool.shutdown()
    assert app.get() == "t11"
    assert app.ask.asked == 1
