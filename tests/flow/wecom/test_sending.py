"""Answers go out to members of a company: whole, in order, and never more at once than WeCom shows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.flow.wecom.fixtures import Mirror, app
from tests.support.pictures import png
from tests.support.variations import ScriptedEngine, engine, failing, setting, using, wrapping
from tests.support.wecom_world import WecomWorld
from wechat_bridge.errors import BrokerUnavailable, EngineRefused, NoticeRefused
from wechat_bridge.flow import deliver
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.people.notice import send_notice
from wechat_bridge.model.message import Item, ItemKind
from wechat_bridge.model.outcome import Done, GiveUp, RetryIn
from wechat_bridge.model.turn import TurnState
from wechat_bridge.simulators.wecom import WecomControl
from wechat_bridge.store import redis_keys

__all__ = ["app"]

TWO_THOUSAND = "企业微信" * 500
"""Field report 14: 2,000 characters, three bytes each."""


def saying(world: WecomWorld, *answers: str | Exception) -> tuple[WecomWorld, ScriptedEngine]:
    """The app with an engine that says so."""
    changed, scripted = engine(world, *answers)
    assert isinstance(changed, WecomWorld)
    return changed, scripted


def hours_before(world: WecomWorld, count: int) -> list[str]:
    """Fill the window of ann with so many sends of just now; return what stands in Redis."""
    for _ in range(count):
        world.bridge.pacing.reserve_for_person(world.channel.account_id, world.user(), 1_000, 900, 0.0)
    key = redis_keys.person_slots(world.channel.account_id, world.user())
    return [str(each) for each in world.wired.redis.lrange(key, 0, -1)]


def test_an_answer_reaches_the_member_who_asked(app: WecomWorld) -> None:
    turn = app.answered("你好 😀")
    assert app.send(turn) == Done()
    assert app.delivered() == ["你好 😀"]
    sent = app.turn(turn.id)
    assert (sent.state, sent.chunks[0].message_id) == (TurnState.SENT, app.shown()[0]["msgid"])


def test_a_long_answer_comes_whole_and_in_order_in_parts_of_at_most_2048_bytes(app: WecomWorld) -> None:
    """Field report 14: the limit is one of bytes, and what is beyond is cut without a word."""
    long, _ = saying(app, TWO_THOUSAND)
    assert long.send(long.answered("tell me all")) == Done()
    parts = long.delivered()
    assert len(parts) == 3
    assert "".join(parts) == TWO_THOUSAND
    assert all(len(part.encode()) <= 2_048 for part in parts)


def test_an_answer_of_twenty_parts_is_not_cut_short_by_a_budget_of_ten(app: WecomWorld) -> None:
    long, _ = saying(app, "\n\n".join(f"{number} {'x' * 1_990}" for number in range(20)))
    assert long.send(long.answered("tell me all")) == Done()
    assert [part.split()[0] for part in long.delivered()] == [str(number) for number in range(20)]


def test_answers_that_read_the_same_are_all_shown(app: WecomWorld) -> None:
    same, _ = saying(app, "好的")
    for number in range(3):
        assert same.send(same.answered(f"please {number}")) == Done()
    assert same.delivered() == ["好的"] * 3


def test_a_send_whose_answer_was_lost_is_repeated_and_shown_once(app: WecomWorld, wecom: WecomControl) -> None:
    wecom.script("message/send", app.bot_id, cut=True, process=True)
    turn = app.answered("once")
    assert isinstance(app.send(turn), RetryIn)
    assert app.send(turn) == Done()
    assert (len(app.sends()), app.delivered()) == (2, ["once"])


def test_an_answer_of_last_week_still_goes_out(app: WecomWorld) -> None:
    turn = app.answered("hello")
    week_ago = {"$set": {"context_at": app.bridge.clock.after(-7 * 86_400), "sends_left": 0}}
    app.bridge.conversations.collection.update_one({"_id": app.chat()}, week_ago)
    assert app.send(turn) == Done()
    assert app.delivered() == ["hello"]


def test_a_member_beyond_reach_costs_their_answer_alone_and_gets_no_apology(
    app: WecomWorld, wecom: WecomControl
) -> None:
    """Field report 43: 81013 is about one person."""
    wecom.set_app(app.bot_id, visible_users=[app.user("bob")])
    gone, fine = app.answered("hello"), app.answered("hello", "bob")
    assert isinstance(app.send(gone), GiveUp)
    record_dead_letter(app.bridge, gone.id)
    assert app.send(fine) == Done()
    assert (app.delivered(), app.delivered("bob"), len(app.sends())) == ([], ["hello"], 2)
    letter = app.bridge.dead_letters.get(gone.id)
    assert letter is not None
    assert (letter.error_class, "81013" in letter.error) == ("RecipientRefused", True)


def test_a_busy_wecom_is_tried_again_soon(app: WecomWorld, wecom: WecomControl) -> None:
    """Field report 43: -1 passes."""
    wecom.script("message/send", app.bot_id, errcode=-1)
    turn = app.answered("hello")
    outcome = app.send(turn)
    assert isinstance(outcome, RetryIn)
    assert outcome.seconds <= 5
    assert app.send(turn) == Done()


@pytest.mark.parametrize("errcode", [40014, 42001])
def test_a_token_that_ended_early_costs_one_more_call_and_no_attempt(
    app: WecomWorld, wecom: WecomControl, errcode: int
) -> None:
    """Field report 15."""
    app.send(app.answered("one"))
    wecom.expire_token(app.bot_id, errcode)
    turn = app.answered("two")
    assert app.send(turn) == Done()
    assert app.delivered() == ["one", "two"]
    assert (len(app.sends()), len(wecom.calls("gettoken"))) == (3, 2)


def test_where_nobody_sees_that_an_answer_is_being_worked_on_nothing_is_done_for_it(app: WecomWorld) -> None:
    def shown(*_: object) -> None:
        raise AssertionError("nobody would see it")

    quiet = wrapping(app, "typing", "shown", shown)
    assert isinstance(quiet, WecomWorld)
    assert quiet.send(quiet.answered("hello")) == Done()


# pacing


def test_the_26th_message_of_a_minute_waits_for_the_minute_to_end(app: WecomWorld) -> None:
    hours_before(app, 25)
    turn = app.answered("hello")
    outcome = app.send(turn)
    assert isinstance(outcome, RetryIn)
    assert 50 < outcome.seconds <= 60
    waiting = app.turn(turn.id)
    assert (waiting.state, waiting.deliver_attempts, app.sends()) == (TurnState.GENERATED, 0, [])


def test_whoever_waits_takes_nobodys_place(app: WecomWorld) -> None:
    before = hours_before(app, 25)
    turn = app.answered("hello")
    for _ in range(3):
        assert isinstance(app.send(turn), RetryIn)
    assert hours_before(app, 0) == before


def test_another_member_does_not_wait_and_upper_case_is_the_same_member(app: WecomWorld) -> None:
    hours_before(app, 25)
    assert app.send(app.answered("hello", "bob")) == Done()
    slot = app.bridge.pacing.reserve_for_person(app.channel.account_id, app.user().upper(), 25, 900, 5.0)
    assert slot.wait_seconds > 50


def test_the_901st_message_of_an_hour_waits_for_the_hour_to_end(app: WecomWorld) -> None:
    key = redis_keys.person_slots(app.channel.account_id, app.user())
    seconds, micros = app.wired.redis.time()
    ten_minutes_ago = int(seconds * 1_000 + micros / 1_000) - 600_000
    app.wired.redis.rpush(key, *[ten_minutes_ago] * 900)
    outcome = app.send(app.answered("hello"))
    assert isinstance(outcome, RetryIn)
    assert 2_950 < outcome.seconds <= 3_000


def test_without_redis_nothing_is_sent_that_might_be_discarded(app: WecomWorld) -> None:
    turn = app.answered("hello")
    away = failing(app, "pacing", "reserve_for_person", BrokerUnavailable("Redis: ConnectionError"))
    assert isinstance(deliver.deliver_reply(away.bridge, turn.id), RetryIn)
    assert (app.turn(turn.id).deliver_attempts, app.sends()) == (0, [])
    assert app.send(turn) == Done()


# what is used up


def test_when_the_calls_of_an_app_are_used_up_all_of_it_pauses_and_no_attempt_is_counted(
    app: WecomWorld, wecom: WecomControl
) -> None:
    """Field report 43: 45009 means a long pause of the whole app."""
    wecom.script("message/send", app.bot_id, errcode=45009)
    first, second = app.answered("one"), app.answered("two", "bob")
    assert isinstance(app.send(first), RetryIn)
    outcome = app.send(second)
    assert isinstance(outcome, RetryIn)
    assert 50 < outcome.seconds <= 60
    assert [app.turn(turn.id).deliver_attempts for turn in (first, second)] == [0, 0]
    assert len(app.sends()) == 1


def test_pauses_grow_while_the_calls_stay_used_up_and_end_with_an_accepted_one(
    app: WecomWorld, wecom: WecomControl
) -> None:
    wecom.script("message/send", app.bot_id, errcode=45009, times=8)
    turn = app.answered("one")
    pauses = []
    for _ in range(8):
        outcome = app.send(turn)
        assert isinstance(outcome, RetryIn)
        pauses.append(round(outcome.seconds))
        app.bridge.channels.collection.update_one({"_id": app.share_id}, {"$set": {"send_blocked_until": None}})
    assert pauses == [60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert app.send(turn) == Done()
    assert app.channel.send_refusals == 0


def test_too_many_calls_at_the_same_moment_cost_a_moment_and_no_attempt(app: WecomWorld, wecom: WecomControl) -> None:
    wecom.script("message/send", errcode=45033)
    turn = app.answered("one")
    outcome = app.send(turn)
    assert isinstance(outcome, RetryIn)
    assert 5 <= outcome.seconds <= 10
    assert (app.turn(turn.id).deliver_attempts, app.channel.send_blocked_until) == (0, None)
    assert app.send(app.answered("two", "bob")) == Done()


# files


@pytest.mark.parametrize(
    ("kind", "data", "said", "shown_as"),
    [
        ("image", png(1_000), "[图片", "image"),
        ("voice", b"#!AMR\n" + bytes(100), "[语音", "voice"),
        ("video", b"\0\0\0\x18ftypmp42" + bytes(200), "[视频", "video"),
        ("file", b"%PDF-1.7 " + bytes(100), "[文件", "file"),
    ],
)
def test_what_a_member_sends_reaches_the_engine_and_what_it_sends_reaches_the_member(
    app: WecomWorld, wecom: WecomControl, kind: str, data: bytes, said: str, shown_as: str
) -> None:
    mirror = using(app, engines={"echo": Mirror()})
    assert isinstance(mirror, WecomWorld)
    fields = wecom.put_media(app.bot_id, kind, data, f"plan.{kind}")
    turn = mirror.answered("", items=(Item(kind=ItemKind(kind)),), raw=json.dumps(fields))
    assert turn.question is not None
    assert turn.question.startswith(said)
    assert mirror.send(turn) == Done()
    last: dict[str, Any] = mirror.shown()[-1]
    assert last["msgtype"] == shown_as
    assert wecom.get_media(app.bot_id, last["content"]["media_id"]) == data


def test_a_file_that_cannot_be_had_leaves_its_reason_and_the_text_is_answered(app: WecomWorld) -> None:
    turn = app.answered("", items=(Item(kind=ItemKind.IMAGE),), raw='{"MsgType": "image", "MediaId": "gone"}')
    assert app.send(turn) == Done()
    assert app.delivered()[0].startswith("「图片无法读取：")


# notices


def test_an_app_may_write_to_a_member_who_never_wrote_more_often_than_a_personal_account(app: WecomWorld) -> None:
    for number in range(8):
        turn_id = send_notice(app.bridge, app.share_id, app.user(), f"notice {number} {TWO_THOUSAND}", f"n{number}")
        app.send(app.turn(turn_id))
        app.bridge.turns.close(turn_id, app.bridge.clock.now())
    assert [text.split(" ")[1] for text in app.delivered() if text.startswith("notice")] == list("01234567")


def test_a_notice_without_text_is_refused_here_too(app: WecomWorld) -> None:
    with pytest.raises(NoticeRefused):
        send_notice(app.bridge, app.share_id, app.user(), " ", "n")


# texts


def test_texts_are_plain_unless_the_channel_wants_markdown(app: WecomWorld, wecom: WecomControl) -> None:
    plain, _ = saying(app, "**bold**, *斜体*")
    plain.send(plain.answered("hello"))
    marked, _ = saying(WecomWorld.of_app(app.wired, wecom, markdown=True), "**bold**, *斜体*")
    marked.send(marked.answered("hello"))
    assert [(row["msgtype"], row["text"]) for row in plain.shown()] == [("text", "bold, 斜体")]
    assert [(row["msgtype"], row["text"]) for row in marked.shown()] == [("markdown", "**bold**, *斜体*")]


def test_the_apology_goes_out_without_a_budget(app: WecomWorld) -> None:
    dumb, _ = saying(app, EngineRefused("no"))
    quick = setting(dumb, "reply", max_retries=0)
    assert isinstance(quick, WecomWorld)
    turn = quick.answered("hello")
    assert turn.state is TurnState.DEAD
    record_dead_letter(quick.bridge, turn.id)
    assert quick.delivered() == [quick.bridge.settings.reply.apology]
