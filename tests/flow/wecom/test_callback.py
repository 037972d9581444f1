"""What becomes of a callback: kept before it is answered, once, and nowhere if it is not what it says."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.flow.wecom.calling import app, bridge, callbacks_of, channel_of, counted, take, turns_of
from tests.support.system import wait_until
from tests.support.together import together
from tests.support.wecom_app import App
from wechat_bridge.errors import CallbackForged, CallbackMalformed
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.wecom.callback import Callbacks, Outcome
from wechat_bridge.model import keys
from wechat_bridge.model.access import AccessRules, Policy
from wechat_bridge.model.message import InboxState
from wechat_bridge.model.turn import Lane

__all__ = ["app", "bridge"]


@pytest.fixture
def callbacks(bridge: Bridge, app: App) -> Iterator[Callbacks]:
    """A process that knows the app."""
    with callbacks_of(bridge) as running:
        yield running


def test_a_message_is_in_the_inbox_and_its_conversation_due_before_anything_is_answered(
    callbacks: Callbacks, app: App
) -> None:
    assert take(callbacks, app, app.text("你好 😀")) is Outcome.STORED
    [row] = app.rows()
    assert (row.items[0].text, row.source, row.state) == ("你好 😀", "callback", InboxState.PENDING)
    conversation = app.bridge.conversations.get(keys.chat_id(app.share_id, "ann"))
    assert conversation is not None
    assert conversation.flush_at is not None


def test_its_doorbell_rings_right_after(bridge: Bridge, app: App) -> None:
    rung: list[str] = []
    doorbells = _Recording(bridge.doorbells, rung)
    with callbacks_of(dataclasses.replace(bridge, doorbells=doorbells)) as callbacks:
        take(callbacks, app, app.text())
        wait_until(lambda: rung, 5, "somebody rings")
    assert rung == [keys.chat_id(app.share_id, "ann")]


class _Recording:
    """Doorbells that nobody hears; each press takes as long as it is told."""

    def __init__(self, real: Any, rung: list[str], seconds: float = 0.0) -> None:
        self._real, self._rung, self._seconds = real, rung, seconds

    def ring_flush(self, chat_id: str, delay_seconds: float = 0) -> None:
        """Note it."""
        time.sleep(self._seconds)
        self._rung.append(chat_id)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def test_a_broker_that_hangs_delays_no_answer(bridge: Bridge, app: App) -> None:
    doorbells = _Recording(bridge.doorbells, [], seconds=1.0)
    with callbacks_of(dataclasses.replace(bridge, doorbells=doorbells)) as callbacks:
        began = time.monotonic()
        assert take(callbacks, app, app.text()) is Outcome.STORED
        assert time.monotonic() - began < 0.9


def test_field_report_6_repeats_with_new_nonce_and_ciphertext_are_one_row(bridge: Bridge, app: App) -> None:
    before = counted(Outcome.REPEATED)
    message = app.text(MsgId=9001)
    with callbacks_of(bridge) as one, callbacks_of(bridge) as two:
        posts = [app.post(message) for _ in range(3)]
        assert len({body for _, body in posts}) == 3
        outcomes = together(3, lambda n: (one, two)[n % 2].take(app.share_id, *posts[n], time.monotonic()))
    assert sorted(outcomes) == [Outcome.REPEATED, Outcome.REPEATED, Outcome.STORED]
    assert len(app.rows()) == 1
    assert counted(Outcome.REPEATED) - before == 2


def test_field_report_35_the_same_msgid_of_other_people_and_other_apps_is_another_message(
    bridge: Bridge, app: App, callbacks: Callbacks
) -> None:
    other = App.create(bridge)
    assert take(callbacks, app, app.text("a", "ann", MsgId=5001)) is Outcome.STORED
    assert take(callbacks, app, app.text("b", "bob", MsgId=5001)) is Outcome.STORED
    assert take(callbacks, other, other.text("c", "ann", MsgId=5001)) is Outcome.STORED
    assert (app.texts(), other.texts()) == (["a", "b"], ["c"])


@pytest.mark.parametrize(
    "event",
    [
        "subscribe",
        "unsubscribe",
        "enter_agent",
        "LOCATION",
        "change_app_admin",
        "batch_job_result",
        "brand_new",
        "click",
    ],
)
def test_field_report_37_events_are_kept_and_ask_and_say_nothing(callbacks: Callbacks, app: App, event: str) -> None:
    assert take(callbacks, app, app.event(event, EventKey="menu-1")) is Outcome.EVENT
    [row] = app.rows()
    assert (row.state, row.reason) == (InboxState.SKIPPED, f"event: {event}")
    assert turns_of(app) == []
    assert app.bridge.conversations.get(row.chat_id) is None


def test_clicks_that_are_questions_are_answered(bridge: Bridge) -> None:
    app = App.create(bridge, clicks={"hours": "When are you open?"})
    with callbacks_of(bridge) as callbacks:
        assert take(callbacks, app, app.event("click", EventKey="hours")) is Outcome.STORED
    assert app.texts() == ["When are you open?"]


def test_a_welcome_is_said_once_however_often_its_event_is_repeated(bridge: Bridge) -> None:
    app = App.create(bridge, welcome_text="欢迎！")
    event = app.event("subscribe")
    with callbacks_of(bridge) as callbacks:
        assert [take(callbacks, app, event) for _ in range(3)] == [Outcome.EVENT, Outcome.REPEATED, Outcome.REPEATED]
        take(callbacks, app, app.event("enter_agent"))
    [turn] = turns_of(app)
    assert (turn["user_id"], turn["lane"], turn["answer"]) == ("ann", Lane.NOTICE.value, "欢迎！")


def test_nobody_is_welcomed_where_nobody_is_answered(bridge: Bridge) -> None:
    app = App.create(bridge, welcome_text="欢迎！")
    rules = AccessRules(policy=Policy.DISABLED)
    bridge.channels.configure(app.share_id, {"access": rules.model_dump()})
    with callbacks_of(bridge) as callbacks:
        assert take(callbacks, app, app.event("subscribe")) is Outcome.EVENT
    assert turns_of(app) == []


@pytest.mark.parametrize("text", ["a\x1db", "a\x00b", "a\x10b"])
def test_field_report_38_characters_that_xml_cannot_carry_are_left_out_and_the_rest_is_read(
    callbacks: Callbacks, app: App, text: str
) -> None:
    head = f"<xml><ToUserName>{app.account.corp_id}</ToUserName><FromUserName>ann</FromUserName>"
    plain = f"{head}<MsgType>text</MsgType><MsgId>77</MsgId><Content><![CDATA[{text}<MsgId>1</MsgId>]]></Content></xml>"
    assert take(callbacks, app, plain) is Outcome.STORED
    assert app.texts() == ["ab<MsgId>1</MsgId>"]
    assert app.rows()[0].message_id == "ann:77"


def test_what_comes_to_a_disabled_channel_is_kept_unanswered_and_stays_so(bridge: Bridge, app: App) -> None:
    bridge.channels.set_enabled(app.share_id, False, bridge.clock.now())
    with callbacks_of(bridge) as callbacks:
        assert take(callbacks, app, app.text()) is Outcome.EVENT
    bridge.channels.set_enabled(app.share_id, True, bridge.clock.now())
    [row] = app.rows()
    assert (row.state, row.reason) == (InboxState.SKIPPED, "the channel is disabled")


@pytest.mark.parametrize("age_seconds", [24 * 3600, -24 * 3600, 301])
def test_field_report_40_what_is_old_or_ahead_is_refused(callbacks: Callbacks, app: App, age_seconds: float) -> None:
    before = counted(Outcome.FORGED)
    with pytest.raises(CallbackForged):
        take(callbacks, app, app.text(), age_seconds=age_seconds)
    assert app.rows() == []
    assert counted(Outcome.FORGED) - before == 1


def test_how_old_a_callback_may_be_is_a_setting_of_the_channel(bridge: Bridge) -> None:
    app = App.create(bridge, freshness_seconds=0)
    with callbacks_of(bridge) as callbacks:
        assert take(callbacks, app, app.text(), age_seconds=24 * 3600) is Outcome.STORED


def test_field_report_40_an_exact_replay_dies_in_the_dedupe(callbacks: Callbacks, app: App) -> None:
    query, body = app.post(app.text())
    taken = [callbacks.take(app.share_id, query, body, time.monotonic()) for _ in range(2)]
    assert taken == [Outcome.STORED, Outcome.REPEATED]


def test_field_report_40_what_is_for_another_app_corp_or_key_is_refused(callbacks: Callbacks, app: App) -> None:
    other = dataclasses.replace(app, account=app.account.model_copy(update={"corp_id": "wwOTHER"}))
    with pytest.raises(CallbackForged):
        take(callbacks, app, app.text(AgentID=1))
    with pytest.raises(CallbackForged):
        take(callbacks, app, app.text(ToUserName="wwOTHER"))
    with pytest.raises(CallbackMalformed):
        callbacks.take(app.share_id, *other.post(app.text()), time.monotonic())
    assert app.rows() == []


def test_a_name_that_is_no_channel_is_like_a_wrong_signature(callbacks: Callbacks, app: App, bridge: Bridge) -> None:
    for share_id in ("nobody", "NOT a name", "x" * 500):
        with pytest.raises(CallbackForged):
            callbacks.take(share_id, *app.post(app.text()), time.monotonic())
    bridge.accounts.log_out(app.share_id)
    with callbacks_of(bridge) as fresh, pytest.raises(CallbackForged):
        take(fresh, app, app.text())


def test_the_channel_remembers_when_it_was_called(callbacks: Callbacks, app: App, bridge: Bridge) -> None:
    take(callbacks, app, app.event("enter_agent"))
    wait_until(lambda: channel_of(app).last_callback_at, 5, "the event is noted")
    assert channel_of(app).last_message_at is None
    take(callbacks, app, app.text())
    wait_until(lambda: channel_of(app).last_message_at, 5, "the message is noted")
