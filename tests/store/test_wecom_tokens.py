"""Access tokens of WeCom in a real Redis: one asks, all use what it gets, and nothing older ever wins."""

from __future__ import annotations

import multiprocessing
import time
import urllib.request
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from tests.channels.calls import wait_until
from tests.channels.scripted_server import Exchange, ScriptedServer
from tests.store.wecom_app import App, app
from tests.support.together import together
from wechat_bridge.errors import (
    BrokerUnavailable,
    PlatformUnavailable,
)
from wechat_bridge.local.services import RedisServer
from wechat_bridge.model.wecom import AccessToken
from wechat_bridge.store import broker, wecom_tokens
from wechat_bridge.store.wecom_tokens import WecomTokens

__all__ = ["app"]


def test_a_token_is_asked_for_once_and_used_until_shortly_before_its_end(app: App) -> None:
    assert [app.get() for _ in range(5)] == ["t1"] * 5
    assert app.other_process().get(app.corp_id, "7", "mark", app.ask) == "t1"
    assert app.ask.asked == 1
    app.let_pass("good_until")
    assert app.get() == "t2"


@pytest.mark.parametrize(
    ("expires_in_seconds", "good_seconds", "renew_seconds"), [(7200, 6900, 6300), (300, 270, 216), (1, 0.9, 0.72)]
)
def test_the_last_minutes_of_a_token_are_not_used_and_the_next_is_asked_for_before_them(
    app: App, expires_in_seconds: int, good_seconds: float, renew_seconds: float
) -> None:
    app.ask.expires_in_seconds = expires_in_seconds
    before = time.time()
    app.get()
    good, renew = (float(str(app.client.hget(app.key, name))) / 1000 - before for name in ("good_until", "renew_at"))
    assert good_seconds - 0.1 < good < good_seconds + 5
    assert renew_seconds - 0.1 < renew < renew_seconds + 5


def test_the_key_has_a_lifetime_whatever_is_in_it(app: App) -> None:
    app.get()
    assert 0 < int(str(app.client.ttl(app.key))) <= 86_400
    app.ask.failures = [PlatformUnavailable("x")]
    app.let_pass("good_until")
    with pytest.raises(PlatformUnavailable):
        app.get()
    assert 0 < int(str(app.client.ttl(app.key))) <= 86_400


def test_apps_and_secrets_have_tokens_of_their_own(app: App) -> None:
    assert app.get() == "t1"
    assert app.get(mark="another secret") == "t2"
    assert app.tokens.get(app.corp_id, "8", "mark", app.ask) == "t3"
    assert app.get() == "t1"


# single flight


def test_twenty_threads_without_a_token_ask_once(app: App) -> None:
    assert set(together(20, lambda _: app.get())) == {"t1"}
    assert app.ask.asked == 1


def test_twenty_threads_with_an_expired_token_ask_once(app: App) -> None:
    app.get()
    assert set(together(20, lambda _: app.get(refused="t1"))) == {"t2"}
    assert app.ask.asked == 2


def ask_server(url: str) -> AccessToken:
    """Ask a server for a token, from whichever process."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        return AccessToken(answer.read().decode(), 7200)


def ten_callers(redis_url: str, corp_id: str, url: str) -> list[str]:
    """Be a process in which ten threads find the same token expired in the same moment."""
    client = broker.connect(redis_url)
    tokens = WecomTokens(client)
    tokens.get(corp_id, "7", "mark", lambda: ask_server(url))
    client.incr(f"{corp_id}:here")
    wait_until(lambda: client.get(f"{corp_id}:here") == "2", 30.0)
    found = together(10, lambda _: tokens.get(corp_id, "7", "mark", lambda: ask_server(url), "t1"))
    client.close()
    return found


def test_twenty_callers_on_two_processes_with_an_expired_token_ask_once(app: App, urls: tuple[str, str]) -> None:
    asked = count(1)

    def script(exchange: Exchange) -> None:
        exchange.answer(f"t{next(asked)}".encode(), "200 OK", "Connection: close")

    with ScriptedServer(script) as server, ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        both = [pool.submit(ten_callers, urls[0], app.corp_id, server.url) for _ in range(2)]
        found = [token for future in both for token in future.result(60)]
        assert found == ["t2"] * 20
        assert len(server.received) == 2  # the first, and one refresh


def test_who_waits_for_a_dead_holder_takes_over_when_the_lease_has_run_out(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wecom_tokens, "LEASE_SECONDS", 0.3)
    dead = app.other_process()
    assert dead._look(app.key, "").what == "ask"  # and is never heard of again
    began = time.monotonic()
    assert app.get() == "t1"
    assert 0.2 < time.monotonic() - began < 5


def test_nobody_waits_for_ever_for_a_holder_that_does_not_come_back(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wecom_tokens, "WAIT_SECONDS", 0.2)
    assert app.other_process()._look(app.key, "").what == "ask"
    with pytest.raises(PlatformUnavailable, match="does not come back"):
        app.get()
    assert app.ask.asked == 0


# refused tokens


def test_an_error_expires_only_the_token_it_was_about(app: App) -> None:
    app.get()
    assert app.get(refused="t1") == "t2"
    assert app.get(refused="t1") == "t2"  # a slow call's complaint about the old one
    assert app.get(refused="t0") == "t2"
    assert app.ask.asked == 2


def test_a_token_that_is_refused_right_after_its_renewal_is_not_renewed_again_at_once(app: App) -> None:
    app.get()
    assert app.get(refused="t1") == "t2"
    for _ in range(5):
        with pytest.raises(PlatformUnavailable, match="a moment ago") as caught:
            app.get(refused="t2")
        assert 0 < (caught.value.retry_after_seconds or 0) <= 15
    assert app.ask.asked == 2
    app.let_pass("renewed_at")
    assert app.get(refused="t2") == "t3"


def test_a_token_that_wecom_gives_again_is_tried_again(app: App) -> None:
    app.get()

    def same() -> AccessToken:
        time.sleep(0.2)
        return AccessToken("t1", 7000)

    assert set(together(10, lambda _: app.get("t1", same))) <= {"t1"}


# without Redis


def test_without_redis_a_process_goes_on_with_the_token_it_knows_and_asks_for_none(tmp_path: Path) -> None:
    with RedisServer(tmp_path / "redis") as server:
        client = broker.connect(server.url)
        app = App(client)
        assert app.get() == "t1"
    assert app.get() == "t1"
    with pytest.raises(BrokerUnavailable, match="knows no good access token"):
        app.get(refused="t1")
    with pytest.raises(BrokerUnavailable):
        app.other_process().get(app.corp_id, "7", "mark", app.ask)
    client.close()
    assert app.ask.asked == 1


def test_an_answer_that_cannot_be_stored_serves_the_process_that_asked(tmp_path: Path) -> None:
    server = RedisServer(tmp_path / "redis")
    client = broker.connect(server.__enter__().url)
    app = App(client)

    def ask() -> AccessToken:
        server.__exit__(None, None, None)
        return app.ask()

    assert app.get(ask=ask) == "t1"
    assert app.get() == "t1"
    client.close()


def test_a_token_is_not_shown(app: App) -> None:
    assert "t1" not in repr(AccessToken("t1", 7200))
