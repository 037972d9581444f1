"""Answers to customers: five for each of their messages, each seen once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.flow.customer_service.fixtures import answered, generated, own, service
from tests.support.customer_world import CustomerWorld
from tests.support.pictures import png
from tests.support.variations import engine, using
from wechat_bridge.engines.base import Answer, AnswerFile, Question
from wechat_bridge.flow import deliver
from wechat_bridge.flow.intake import make_due
from wechat_bridge.flow.turns import flush_conversation
from wechat_bridge.model.outcome import Done, RetryIn
from wechat_bridge.model.turn import TurnState
from wechat_bridge.model.wecom_kf import msgid_of
from wechat_bridge.simulators.wecom import WecomControl

__all__ = ["service"]


def test_a_long_answer_is_cut_into_at_most_five_messages_of_2048_bytes(service: CustomerWorld) -> None:
    long, _ = engine(service, "企业微信" * 2_000)
    answered(own(long), "tell me all")
    seen = service.delivered()
    assert len(seen) == 5
    assert all(len(text.encode()) <= 2_048 for text in seen)


def test_after_five_messages_the_rest_waits_for_the_customers_next_message(
    service: CustomerWorld, wecom: WecomControl
) -> None:
    turn = generated(service, parts=7)
    deliver.deliver_reply(service.bridge, turn.id)
    parked = service.turn(turn.id)
    assert (parked.state, parked.park_reason) == (TurnState.PARKED, "send_budget")
    assert service.delivered() == [f"hello {number}" for number in range(5)]
    assert [row["replies"] for row in wecom.kf_customers(service.open_kfid)] == [5]

    service.say("go on")
    service.pull()
    service.make_due()
    flush_conversation(service.bridge, service.chat())
    assert service.turn(turn.id).state is TurnState.GENERATED
    assert deliver.deliver_reply(service.bridge, turn.id) == Done()
    assert service.delivered() == [f"hello {number}" for number in range(7)]


def test_what_a_process_stored_just_before_its_death_refills_no_more_than_five(service: CustomerWorld) -> None:
    """The sweep, which makes such messages due, does not know of what kind their channel is."""
    service.say("hello")
    service.pull()
    service.bridge.conversations.collection.delete_one({"_id": service.chat()})
    make_due(service.bridge, service.bridge.inbox.pending(service.chat()))
    conversation = service.bridge.conversations.get(service.chat())
    assert conversation is not None
    assert conversation.sends_left == 5


def test_an_answer_a_day_and_a_half_later_is_sent_and_one_after_two_days_waits(service: CustomerWorld) -> None:
    for age, state in ((timedelta(hours=36), TurnState.SENT), (timedelta(hours=49), TurnState.PARKED)):
        turn = generated(service)
        earlier = {"$set": {"context_at": service.bridge.clock.now() - age}}
        service.bridge.conversations.collection.update_one({"_id": service.chat()}, earlier)
        deliver.deliver_reply(service.bridge, turn.id)
        assert service.turn(turn.id).state is state


def test_a_send_whose_answer_was_lost_is_repeated_under_the_same_msgid_and_seen_once(
    service: CustomerWorld, wecom: WecomControl
) -> None:
    turn = generated(service, "once")
    wecom.script("kf/send_msg", service.bot_id, cut=True, process=True)
    assert isinstance(deliver.deliver_reply(service.bridge, turn.id), RetryIn)
    assert service.send(service.turn(turn.id)) == Done()
    assert service.delivered() == ["once"]
    sent = service.turn(turn.id)
    assert (sent.state, sent.chunks[0].message_id) == (TurnState.SENT, msgid_of(sent.chunks[0].client_id))
    assert len({call["body"] for call in service.kf_sends()}) == 1


def test_a_customer_who_is_none_costs_only_their_own_reply(service: CustomerWorld, wecom: WecomControl) -> None:
    wecom.script("kf/send_msg", service.bot_id, errcode=40096)
    turn = generated(service)
    deliver.deliver_reply(service.bridge, turn.id)
    assert service.turn(turn.id).state is TurnState.DEAD
    answered(service, "hello", name="bob")
    assert service.delivered("bob") == ["hello"]


@pytest.mark.parametrize(("errcode", "reason"), [(95001, "send_budget"), (95002, "send_budget")])
def test_what_wecom_refuses_as_too_many_or_too_late_waits_for_the_customer(
    service: CustomerWorld, wecom: WecomControl, errcode: int, reason: str
) -> None:
    wecom.script("kf/send_msg", service.bot_id, errcode=errcode)
    turn = generated(service)
    deliver.deliver_reply(service.bridge, turn.id)
    parked = service.turn(turn.id)
    assert (parked.state, parked.park_reason) == (TurnState.PARKED, reason)


def test_an_account_that_the_app_may_not_serve_holds_its_replies(service: CustomerWorld, wecom: WecomControl) -> None:
    wecom.script("kf/send_msg", service.bot_id, errcode=48007)
    turn = generated(service)
    deliver.deliver_reply(service.bridge, turn.id)
    held = service.turn(turn.id)
    assert held.state is TurnState.PARKED
    assert "微信客服" in (held.error or "")


class Mirror:
    """An engine that answers with what it was sent, and remembers its type."""

    name = "echo"

    def __init__(self) -> None:
        self.heads: list[bytes] = []

    def answer(self, question: Question) -> Answer:
        """Give every file back."""
        files = []
        for each in question.media:
            data = each.read()
            self.heads.append(data[:8])
            files.append(AnswerFile(each.kind, each.label, each.mime, data))
        return Answer(text="", files=tuple(files))


@pytest.mark.parametrize(
    ("kind", "data"),
    [("image", png(1_000)), ("video", b"\0\0\0\x18ftypmp42" + bytes(200)), ("file", b"%PDF-1.7 " + bytes(100))],
)
def test_what_a_customer_sends_reaches_the_engine_and_what_it_sends_reaches_the_customer(
    service: CustomerWorld, wecom: WecomControl, kind: str, data: bytes
) -> None:
    sent = wecom.put_media(service.bot_id, kind, data, f"plan.{kind}")
    message = {"msgtype": kind, kind: {"media_id": sent["MediaId"]}}
    wecom.kf_write(service.open_kfid, service.user(), [message], doorbell=False)
    mirror = Mirror()
    asking = own(using(service, engines={"echo": mirror}))
    asking.pull()
    assert asking.settle() is not None
    assert mirror.heads == [data[:8]]
    [shown] = service.shown()
    assert shown["msgtype"] == kind
    assert wecom.get_media(service.bot_id, shown["content"]["media_id"]) == data
