"""Humans take sessions over and leave them, people come and are welcomed: in the order in which it happened."""

from __future__ import annotations

import pytest

from tests.flow.customer_service.fixtures import answered, own, service
from tests.support.customer_world import ENDED, HUMAN, CustomerWorld
from tests.support.variations import failing
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.flow import deliver, reply
from wechat_bridge.model import keys
from wechat_bridge.model.access import AccessRules, Policy
from wechat_bridge.model.turn import TurnState
from wechat_bridge.simulators.wecom import WecomControl
from wechat_bridge.wiring import Wired

__all__ = ["service"]

SILENT = ("skipped", "a human answers")
DONE = ("done", "")
BEGINS, TRANSFERRED, ENDS, AGAIN = 1, 2, 3, 4


@pytest.fixture
def welcoming(wired: Wired, wecom: WecomControl) -> CustomerWorld:
    """An account that welcomes who comes."""
    return CustomerWorld.of_account(wired, wecom, welcome_text="欢迎！")


@pytest.mark.parametrize("change_type", [BEGINS, TRANSFERRED, AGAIN])
def test_while_a_human_serves_the_bot_is_silent(service: CustomerWorld, change_type: int) -> None:
    service.session(HUMAN, change_type)
    service.say("are you human?")
    service.pull()
    assert service.settle() is None
    assert service.said() == [("are you human?", *SILENT)]
    assert service.delivered() == []


def test_what_was_said_to_a_human_is_not_answered_when_they_have_left_and_what_is_said_then_is(
    service: CustomerWorld,
) -> None:
    service.say("before", name="ann")
    service.session(HUMAN, BEGINS)
    service.say("to the human")
    service.session(ENDED, ENDS)
    service.say("after")
    service.pull()
    service.settle()
    # "before" waited when the human came: they see it, too.
    assert [row for row in service.said() if row[0] != "before"] == [("to the human", *SILENT), ("after", *DONE)]
    assert service.delivered()[-1].endswith("after")
    assert "to the human" not in "".join(service.delivered())


def test_one_customer_with_a_human_keeps_no_other_from_the_bot(service: CustomerWorld) -> None:
    service.session(HUMAN, BEGINS, name="ann")
    service.say("for the human", name="ann")
    service.say("for the bot", name="bob")
    service.pull()
    service.settle("ann")
    service.settle("bob")
    assert (service.delivered("ann"), service.delivered("bob")) == ([], ["for the bot"])


def test_a_human_who_comes_while_an_answer_is_under_way_ends_it(service: CustomerWorld) -> None:
    service.say("a long question")
    service.pull()
    service.make_due()
    turn = service.flush()
    assert turn is not None
    reply.generate_reply(service.bridge, turn.id)
    service.session(HUMAN, BEGINS)
    service.pull()
    deliver.deliver_reply(service.bridge, turn.id)
    assert service.delivered() == []
    ended = service.turn(turn.id)
    assert (ended.state, ended.error, ended.open) == (TurnState.SKIPPED, "a human answers", False)


def test_an_answer_that_wecom_refuses_because_of_a_human_waits_until_that_is_heard_and_is_dropped(
    service: CustomerWorld,
) -> None:
    service.say("hello")
    service.pull()
    service.session(HUMAN, BEGINS)
    turn = service.settle()
    assert turn is not None
    assert (turn.state, turn.park_reason) == (TurnState.PARKED, "session_not_ours")
    service.pull()
    assert service.turn(turn.id).state is TurnState.SKIPPED
    service.session(ENDED, ENDS)
    service.say("thanks")
    service.pull()
    service.settle()
    assert service.delivered() == ["thanks"]


def test_an_event_that_comes_again_after_a_kill_takes_effect_once(service: CustomerWorld) -> None:
    service.session(HUMAN, BEGINS)
    service.session(ENDED, ENDS)
    service.say("for the bot")
    with pytest.raises(LedgerUnavailable):
        own(failing(service, "services", "move", LedgerUnavailable("away"))).pull()
    service.make_due()
    turn = service.flush()
    assert turn is not None
    service.pull()
    service.answer(turn)
    assert service.delivered() == ["for the bot"]


def test_commands_reach_the_bot_even_while_a_human_serves(service: CustomerWorld) -> None:
    service.session(HUMAN, BEGINS)
    service.say("/status")
    service.pull()
    [(_, state, reason)] = service.said()
    assert (state, reason) == ("pending", "")


# welcome


def test_who_comes_is_welcomed_once_and_it_counts_for_no_budget(welcoming: CustomerWorld, wecom: WecomControl) -> None:
    wecom.kf_enter(welcoming.open_kfid, welcoming.user(), doorbell=False)
    with pytest.raises(LedgerUnavailable):
        own(failing(welcoming, "services", "move", LedgerUnavailable("away"))).pull()
    welcoming.pull()
    assert welcoming.delivered() == ["欢迎！"]
    assert wecom.kf_customers(welcoming.open_kfid)[0]["replies"] == 0
    assert len(wecom.calls("kf/send_msg_on_event", welcoming.bot_id)) == 1


def test_a_welcome_whose_answer_was_lost_is_seen_once_when_the_page_is_read_again(
    welcoming: CustomerWorld, wecom: WecomControl
) -> None:
    wecom.kf_enter(welcoming.open_kfid, welcoming.user(), doorbell=False)
    wecom.script("kf/send_msg_on_event", welcoming.bot_id, cut=True, process=True)
    with pytest.raises(LedgerUnavailable):
        own(failing(welcoming, "inbox", "add", LedgerUnavailable("away"))).pull()
    welcoming.pull()
    assert welcoming.delivered() == ["欢迎！"]


def test_nobody_is_welcomed_too_late_or_twice_or_where_nobody_is_answered(
    welcoming: CustomerWorld, wecom: WecomControl
) -> None:
    rules = {"access": AccessRules(policy=Policy.DISABLED).model_dump()}
    late = {"msgtype": "event", "origin": 4, "send_time": 1_700_000_000}
    event = {"event_type": "enter_session", "welcome_code": "c", "external_userid": welcoming.user()}
    wecom.kf_write(welcoming.open_kfid, welcoming.user(), [late | {"event": event}], doorbell=False)
    welcoming.pull()
    welcoming.bridge.channels.configure(welcoming.share_id, rules)
    wecom.kf_enter(welcoming.open_kfid, welcoming.user("bob"), doorbell=False)
    welcoming.pull()
    assert wecom.calls("kf/send_msg_on_event", welcoming.bot_id) == []


def test_without_a_text_nobody_is_welcomed(service: CustomerWorld, wecom: WecomControl) -> None:
    wecom.kf_enter(service.open_kfid, service.user(), doorbell=False)
    service.pull()
    assert wecom.calls("kf/send_msg_on_event", service.bot_id) == []
    [row] = service.rows()
    assert (row.state.value, row.reason, row.chat_id) == (
        "skipped",
        "event: enter_session",
        keys.chat_id(service.share_id, service.user()),
    )


def test_a_welcome_that_is_refused_costs_nobody_their_answer(welcoming: CustomerWorld, wecom: WecomControl) -> None:
    wecom.script("kf/send_msg_on_event", welcoming.bot_id, errcode=45009)
    wecom.kf_enter(welcoming.open_kfid, welcoming.user(), doorbell=False)
    answered(welcoming, "hello")
    assert welcoming.delivered() == ["hello"]
