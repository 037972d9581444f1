"""Whose callbacks are taken, read seldom and known while the ledger is away."""

from __future__ import annotations

import time

import pytest

from tests.flow.wecom.calling import AWAY, app, bridge, broken, callbacks_of, take
from tests.support.wecom_app import App
from wechat_bridge.errors import CallbackForged, LedgerUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.wecom import callback_channels
from wechat_bridge.flow.wecom.callback import Outcome
from wechat_bridge.flow.wecom.callback_channels import CallbackChannels
from wechat_bridge.wiring import Wired

__all__ = ["app", "bridge"]


def test_a_channel_whose_secrets_no_key_opens_refuses_and_tells_the_operator(
    bridge: Bridge, app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    bridge.channels.configure(app.share_id, {"sealed_account": "gAAAAnonsense"})
    with callbacks_of(bridge) as callbacks, pytest.raises(CallbackForged):
        take(callbacks, app, app.text())
    assert "none of the keys opens the stored credentials" in capsys.readouterr().out


def test_a_busy_channel_is_read_once_in_some_seconds(bridge: Bridge, app: App, wired: Wired) -> None:
    with callbacks_of(bridge) as callbacks:
        unread = broken(bridge, wired, ("channels", "get", AssertionError("read again")))
        callbacks._channels._bridge = unread
        assert [take(callbacks, app, app.text()) for _ in range(3)] == [Outcome.STORED] * 3


def test_a_channel_is_still_known_while_the_ledger_is_away(bridge: Bridge, app: App, wired: Wired) -> None:
    channels = CallbackChannels(broken(bridge, wired, ("channels", "get", AWAY)), lifetime_seconds=0.0)
    channels.load()
    known = channels.get(app.share_id)
    assert known is not None
    assert known.account == app.account
    with pytest.raises(LedgerUnavailable):
        channels.get("never-seen")


def test_a_change_of_an_operator_counts_as_soon_as_it_is_read_again(bridge: Bridge, app: App) -> None:
    channels = CallbackChannels(bridge, lifetime_seconds=0.0)
    channels.load()
    bridge.channels.set_enabled(app.share_id, False, bridge.clock.now())
    known = channels.get(app.share_id)
    assert known is not None
    assert known.channel.enabled is False


def test_strangers_fill_no_memory(bridge: Bridge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callback_channels, "MOST_STRANGERS", 10)
    channels = CallbackChannels(bridge)
    assert {channels.get(f"stranger-{number}") for number in range(35)} == {None}
    assert len(channels._strangers) <= 10


def test_one_document_that_does_not_fit_keeps_no_process_from_starting(bridge: Bridge, app: App) -> None:
    bridge.channels.collection.insert_one({"_id": "spoiled", "kind": "wecom", "status": "no such status"})
    try:
        with callbacks_of(bridge) as callbacks:
            assert take(callbacks, app, app.text()) is Outcome.STORED
            with pytest.raises(CallbackForged):
                callbacks.take("spoiled", *app.post(app.text()), time.monotonic())
    finally:
        bridge.channels.collection.delete_one({"_id": "spoiled"})
