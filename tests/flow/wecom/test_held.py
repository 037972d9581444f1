"""An app from which WeCom takes nothing: its answers wait, one alert says what to change, and all go out after that."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from tests.flow.wecom.fixtures import Mirror, app
from tests.flow.wecom.holding import ADDRESS, alerts, allow, hold_of, let_a_probe_be_due, pass_over, rung, waiting
from tests.support.doorbells import taken
from tests.support.pictures import png
from tests.support.variations import setting, using, wrapping
from tests.support.wecom_world import WecomWorld
from wechat_bridge.flow.channel.accounts import opened
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.failure import give_up
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.flow.wecom.held import HeldApps
from wechat_bridge.model.message import Item, ItemKind
from wechat_bridge.model.outcome import Done, Park
from wechat_bridge.model.turn import TurnState
from wechat_bridge.simulators.wecom import WecomControl

__all__ = ["app"]


@pytest.fixture
def shut(app: WecomWorld, wecom: WecomControl) -> WecomWorld:
    """An app whose trusted addresses are others than ours."""
    wecom.set_options(source_ip=ADDRESS)
    wecom.set_app(app.bot_id, trusted_ips=["198.51.100.1"])
    return app


def test_a_refused_address_parks_the_reply_and_names_the_address_once(shut: WecomWorld) -> None:
    """Field report 43, with a hold in place of dead letters."""
    with capture_logs() as lines:
        first, *others = waiting(shut, *(f"user{number}" for number in range(20)))
    assert [shut.turn(turn.id).state for turn in (first, *others)] == [TurnState.PARKED] * 20
    assert {shut.turn(turn.id).park_reason for turn in others} == {"address_not_trusted"}
    assert len(shut.sends()) == 1, "who comes after the first does not ask"
    (alert,) = [line for line in lines if line["event"] == "alert_raised"]
    assert (alert["cause"], alert["subject"]) == ("app_held", shut.share_id)
    assert f"add {ADDRESS} to 企业可信IP" in alert["advice"]


def test_when_it_works_again_every_reply_goes_out_once_oldest_first(shut: WecomWorld) -> None:
    names = [f"user{number}" for number in range(12)]
    turns = waiting(shut, *names)
    allow(shut)
    let_a_probe_be_due(shut)
    with capture_logs() as lines:
        assert pass_over(shut) == [turns[0].id]
        assert not hold_of(shut).lasts
        assert pass_over(shut) == [turn.id for turn in turns[1:]]
        assert pass_over(shut) == []
    assert alerts(lines, shut) == ["alert_cleared"]
    assert [shut.delivered(name) for name in names] == [[f"for {name}"] for name in names]
    shown = [row["text"] for row in shut.control.deliveries(app=shut.bot_id)]
    assert shown == [f"for {name}" for name in names]
    assert shut.channel.hold is None


def test_while_it_does_not_work_one_reply_asks_each_time_ever_more_seldom(shut: WecomWorld) -> None:
    waiting(shut, "ann", "bob", "eve")
    delays = []
    with capture_logs() as lines:
        for calls in range(2, 8):
            let_a_probe_be_due(shut)
            before = shut.bridge.clock.now()
            assert len(pass_over(shut)) == 1
            assert len(shut.sends()) == calls
            probe_at = hold_of(shut).probe_at
            assert probe_at is not None
            delays.append(round((probe_at - before).total_seconds()))
            assert pass_over(shut) == [], "the next one waits"
    assert delays == [60, 120, 240, 300, 300, 300]
    assert alerts(lines, shut) == []


def test_a_reply_is_never_given_up_for_having_waited(shut: WecomWorld) -> None:
    quick = setting(shut, "reply", most_releases=1)
    assert isinstance(quick, WecomWorld)
    (turn,) = waiting(quick, "ann")
    quick.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"releases": 3}})  # for another reason, before
    for _ in range(6):
        let_a_probe_be_due(quick)
        assert pass_over(quick) == [turn.id]
    assert (quick.turn(turn.id).state, quick.turn(turn.id).releases) == (TurnState.PARKED, 3)


def test_a_new_message_of_the_person_releases_nothing_and_is_answered_afterwards(shut: WecomWorld) -> None:
    (turn,) = waiting(shut, "ann")
    shut.receive(shut.text("and this?", context_token=""))
    shut.make_due()
    assert shut.flush() == shut.turn(turn.id)
    assert shut.turn(turn.id).state is TurnState.PARKED
    allow(shut)
    let_a_probe_be_due(shut)
    pass_over(shut)
    shut.make_due()
    later = shut.flush()
    assert later is not None
    shut.answer(later)
    assert shut.delivered() == ["for ann", "and this?"]


def test_where_no_reply_waits_the_next_one_finds_out(shut: WecomWorld) -> None:
    (turn,) = waiting(shut, "ann")
    shut.bridge.turns.stop(shut.turn(turn.id), shut.bridge.clock.now(), "stopped")
    allow(shut)
    let_a_probe_be_due(shut)
    assert pass_over(shut) == []
    assert shut.send(shut.answered("hello", "bob")) == Done()
    assert not hold_of(shut).lasts


def test_a_reply_that_arrives_while_another_one_probes_is_parked(shut: WecomWorld) -> None:
    (first,) = waiting(shut, "ann")
    let_a_probe_be_due(shut)
    HeldApps().look(shut.bridge, 100)
    assert isinstance(shut.send(shut.answered("hello", "bob")), Park)
    assert (hold_of(shut).turn_id, len(shut.sends())) == (first.id, 1)


def test_a_probe_that_meets_a_member_beyond_reach_shows_that_the_app_works(shut: WecomWorld) -> None:
    lost, fine = waiting(shut, "ann", "bob")
    shut.control.set_app(shut.bot_id, trusted_ips=[ADDRESS], visible_users=[shut.user("bob")])
    let_a_probe_be_due(shut)
    pass_over(shut)
    assert pass_over(shut) == [fine.id]
    assert (shut.turn(lost.id).state, shut.delivered("bob")) == (TurnState.DEAD, ["for bob"])


def test_a_wrong_secret_holds_the_app_and_a_new_one_releases_it(app: WecomWorld, wecom: WecomControl) -> None:
    wecom.set_app(app.bot_id, secret="another-secret-of-forty-three-letters-12345")
    (turn,) = waiting(app, "ann")
    assert app.turn(turn.id).park_reason == "credential_refused"
    wecom.set_app(app.bot_id, secret=_secret_of(app))
    app.wired.redis.delete(*[str(key) for key in app.wired.redis.scan_iter(f"wecom:token:{app.bot_id}*")])
    let_a_probe_be_due(app)
    assert pass_over(app) == [turn.id]
    assert app.delivered() == ["for ann"]


def _secret_of(world: WecomWorld) -> str:
    return opened(world.bridge, world.channel).token


@pytest.mark.parametrize(("errcode", "reason"), [(48002, "permission_missing"), (301002, "permission_missing")])
def test_a_missing_permission_holds_the_app(app: WecomWorld, wecom: WecomControl, errcode: int, reason: str) -> None:
    wecom.script("message/send", errcode=errcode)
    (turn,) = waiting(app, "ann")
    assert (app.turn(turn.id).park_reason, hold_of(app).reason) == (reason, reason)


def test_another_cause_is_told_but_not_again_and_again(shut: WecomWorld) -> None:
    waiting(shut, "ann")
    allow(shut)
    for told in (["alert_raised"], []):
        shut.control.script("message/send", errcode=48002 if told else 50003)
        hours_ago = shut.bridge.clock.now() - timedelta(hours=1 if told else 0)
        shut.bridge.channels.collection.update_one({"_id": shut.share_id}, {"$set": {"hold.told_at": hours_ago}})
        let_a_probe_be_due(shut)
        with capture_logs() as lines:
            pass_over(shut)
        assert alerts(lines, shut) == told
        assert hold_of(shut).reason == "permission_missing"


def test_a_hold_that_lasts_is_told_again_every_day(shut: WecomWorld) -> None:
    waiting(shut, "ann")
    yesterday = shut.bridge.clock.now() - timedelta(hours=25)
    shut.bridge.channels.collection.update_one({"_id": shut.share_id}, {"$set": {"hold.told_at": yesterday}})
    with capture_logs() as lines:
        pass_over(shut)
        pass_over(shut)
    assert alerts(lines, shut) == ["alert_raised"]


def test_a_reply_parked_by_a_process_that_died_before_it_looked_again_is_found(shut: WecomWorld) -> None:
    (turn,) = waiting(shut, "ann")
    shut.bridge.channels.collection.update_one({"_id": shut.share_id}, {"$set": {"hold": None}})
    allow(shut)
    assert pass_over(shut) == [turn.id]
    assert shut.delivered() == ["for ann"]


def test_a_reply_parked_just_when_the_app_works_again_goes_out(shut: WecomWorld) -> None:
    waiting(shut, "ann")
    late = shut.answered("for bob", "bob")
    stale = shut.channel
    allow(shut)
    shut.bridge.holds.end(shut.share_id)
    shut.bridge.holds.forget(shut.share_id)
    reads = iter([stale])
    frozen = wrapping(shut, "channels", "get", lambda share_id: next(reads, None) or shut.bridge.channels.get(share_id))
    assert isinstance(frozen, WecomWorld)
    frozen.send(late)
    assert shut.turn(late.id).state is TurnState.GENERATED
    assert shut.send(late) == Done()


def test_a_personal_account_and_another_app_are_not_held_with_it(shut: WecomWorld, wecom: WecomControl) -> None:
    waiting(shut, "ann")
    other = WecomWorld.of_app(shut.wired, wecom)
    assert other.send(other.answered("hello")) == Done()


def test_no_apology_is_tried_while_the_app_is_held(shut: WecomWorld) -> None:
    waiting(shut, "ann")
    turn = shut.answered("hello", "bob")
    claimed = shut.bridge.turns.claim(
        turn.id, TurnState.GENERATED, TurnState.DELIVERING, shut.bridge.owner, shut.bridge.clock.now(),
        shut.bridge.clock.after(60),
    )  # fmt: skip
    assert claimed is not None
    assert give_up(shut.bridge, claimed, "broken")
    record_dead_letter(shut.bridge, turn.id)
    assert (len(shut.sends()), shut.turn(turn.id).open) == (1, False)


def test_an_upload_that_is_refused_holds_the_app_too(shut: WecomWorld) -> None:
    allow(shut)
    fields = shut.control.put_media(shut.bot_id, "image", png(500))
    mirror = using(shut, engines={"echo": Mirror()})
    assert isinstance(mirror, WecomWorld)
    turn = mirror.answered("", items=(Item(kind=ItemKind.IMAGE),), raw=json.dumps(fields))
    shut.control.set_app(shut.bot_id, trusted_ips=["198.51.100.1"])
    assert isinstance(mirror.send(turn), Park)
    assert hold_of(shut).cause == f"address_not_trusted {ADDRESS}"


def test_when_the_clock_of_the_ledger_goes_back_the_probe_is_not_hours_away(shut: WecomWorld) -> None:
    waiting(shut, "ann")
    now = shut.bridge.clock.now()
    tomorrow = {"$set": {"hold.probe_at": now + timedelta(days=1)}}
    shut.bridge.channels.collection.update_one({"_id": shut.share_id}, tomorrow)
    shut.bridge.due_times.pull_channels(now, now, now + timedelta(hours=1))
    probe_at = hold_of(shut).probe_at
    assert probe_at is not None
    assert abs((probe_at - now).total_seconds()) < 1
    assert WecomWorld.of_app(shut.wired, shut.control).channel.hold is None


def test_the_sweep_looks_after_held_apps(shut: WecomWorld) -> None:
    (turn,) = waiting(shut, "ann")
    allow(shut)
    let_a_probe_be_due(shut)
    taken(shut, "deliver")
    Sweeper().sweep(shut.bridge)
    assert rung(shut) == [turn.id]
    assert shut.delivered() == ["for ann"]
