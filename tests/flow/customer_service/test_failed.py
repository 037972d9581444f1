"""What WeCom accepted and did not show waits for the customer where they can help, and is a dead letter elsewhere."""

from __future__ import annotations

from tests.flow.customer_service.fixtures import answer_to_what_was_said, answered, generated, service
from tests.support.customer_world import CustomerWorld
from wechat_bridge.flow import deliver
from wechat_bridge.flow.dead_letters import replay
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.turns import flush_conversation
from wechat_bridge.model.outcome import Done, RetryIn
from wechat_bridge.model.turn import ChunkState, Turn, TurnState
from wechat_bridge.model.wecom_kf import msgid_of
from wechat_bridge.simulators.wecom import WecomControl

__all__ = ["service"]


def fail(service: CustomerWorld, turn: Turn, number: int, fail_type: int) -> None:
    """Say that a message of a turn was not shown."""
    msgid = msgid_of(service.turn(turn.id).chunks[number].client_id)
    service.event("msg_send_fail", {"fail_msgid": msgid, "fail_type": fail_type})
    service.pull()


def test_a_reply_that_was_accepted_and_not_shown_becomes_a_dead_letter_that_says_why(service: CustomerWorld) -> None:
    turn = generated(service, parts=3)
    deliver.deliver_reply(service.bridge, turn.id)
    fail(service, turn, 1, 10)
    letter = service.bridge.dead_letters.get(turn.id)
    assert letter is not None
    assert (letter.stage, letter.waits) == ("deliver", True)
    assert "message 2 of this reply" in letter.error
    assert "the customer refuses messages" in letter.error
    dead = service.turn(turn.id)
    assert (dead.state, dead.open) == (TurnState.DEAD, False)
    assert [chunk.state for chunk in dead.chunks] == [
        ChunkState.ACCEPTED,
        ChunkState.WAITING,
        ChunkState.ACCEPTED,
    ]


def test_its_replay_sends_what_was_not_seen_and_nothing_else(service: CustomerWorld) -> None:
    turn = generated(service, parts=2)
    deliver.deliver_reply(service.bridge, turn.id)
    fail(service, turn, 1, 0)
    replay.replay(service.bridge, turn.id, "operator")
    assert service.send(service.turn(turn.id)) == Done()
    assert service.delivered() == ["hello 0", "hello 1", "hello 1"]
    assert service.turn(turn.id).state is TurnState.SENT


def test_its_replay_sends_all_of_which_wecom_says_so(service: CustomerWorld) -> None:
    turn = generated(service, parts=3)
    deliver.deliver_reply(service.bridge, turn.id)
    for number in (0, 2):
        fail(service, turn, number, 10)
    letter = service.bridge.dead_letters.get(turn.id)
    assert letter is not None
    for error in (letter.error, service.turn(turn.id).error or ""):
        assert "message 1 of this reply" in error
    replay.replay(service.bridge, turn.id, "operator")
    assert service.send(service.turn(turn.id)) == Done()
    assert service.delivered() == ["hello 0", "hello 1", "hello 2", "hello 0", "hello 2"]


def test_a_reply_that_fails_while_the_rest_of_it_is_under_way_is_given_up_whoever_sends_it(
    service: CustomerWorld, wecom: WecomControl
) -> None:
    turn = generated(service, parts=2)
    wecom.script("kf/send_msg", service.bot_id, cut=True, process=True)
    assert isinstance(deliver.deliver_reply(service.bridge, turn.id), RetryIn)
    fail(service, turn, 0, 5)
    given_up = service.turn(turn.id)
    assert (given_up.state, given_up.open) == (TurnState.DEAD, True)
    record_dead_letter(service.bridge, turn.id)
    letter = service.bridge.dead_letters.get(turn.id)
    assert letter is not None
    assert "the session has ended" in letter.error
    assert service.delivered() == ["hello 0"]
    answered(service, "next")
    assert service.delivered()[-1] == "next"


def test_the_same_failure_told_twice_and_one_of_a_message_of_somebody_else_change_nothing(
    service: CustomerWorld,
) -> None:
    turn = generated(service)
    deliver.deliver_reply(service.bridge, turn.id)
    fail(service, turn, 0, 10)
    before = service.bridge.turns.collection.find_one({"_id": turn.id})
    service.event("msg_send_fail", {"fail_msgid": msgid_of(turn.chunks[0].client_id), "fail_type": 6})
    service.event("msg_send_fail", {"fail_msgid": "of-another-system", "fail_type": 6})
    service.pull()
    assert service.bridge.turns.collection.find_one({"_id": turn.id}) == before


def said_before_the_last_answer_and_read_after_it(service: CustomerWorld) -> Turn:
    """Answer in four parts what was said before four others were sent: WeCom shows one of them."""
    first = generated(service, "first", parts=4)
    service.say("second")
    deliver.deliver_reply(service.bridge, first.id)
    second = answer_to_what_was_said(service, "second", parts=4)
    deliver.deliver_reply(service.bridge, second.id)
    assert service.turn(second.id).state is TurnState.SENT
    service.pull()
    return service.turn(second.id)


SHOWN = [f"first {number}" for number in range(4)] + ["second 0"]


def test_what_wecom_did_not_show_because_it_counts_otherwise_waits_for_the_customers_next_message(
    service: CustomerWorld,
) -> None:
    parked = said_before_the_last_answer_and_read_after_it(service)
    assert (parked.state, parked.open, parked.park_reason) == (TurnState.PARKED, True, "send_budget")
    assert service.bridge.dead_letters.get(parked.id) is None
    conversation = service.bridge.conversations.get(service.chat())
    assert conversation is not None
    assert conversation.sends_left == 0
    assert service.delivered() == SHOWN

    service.say("go on")
    service.pull()
    service.make_due()
    flush_conversation(service.bridge, service.chat())
    assert deliver.deliver_reply(service.bridge, parked.id) == Done()
    assert service.delivered() == [*SHOWN, "second 1", "second 2", "second 3"]
    assert service.turn(parked.id).state is TurnState.SENT
    assert service.settle() is not None
    assert service.delivered()[-1] == "go on"


def test_where_the_customer_has_written_since_it_goes_out_again_at_once(service: CustomerWorld) -> None:
    turn = generated(service, parts=2)
    deliver.deliver_reply(service.bridge, turn.id)
    sent_earlier = {"$set": {"chunks.1.at": service.bridge.clock.after(-60)}}
    service.bridge.turns.collection.update_one({"_id": turn.id}, sent_earlier)
    service.say("and?")
    service.pull()
    fail(service, turn, 1, 6)
    assert service.turn(turn.id).state is TurnState.GENERATED
    assert service.send(service.turn(turn.id)) == Done()
    assert service.delivered() == ["hello 0", "hello 1", "hello 1"]
    assert service.settle() is not None
    assert service.delivered()[-1] == "and?"


def test_what_cannot_wait_because_the_next_question_is_in_work_becomes_a_dead_letter(service: CustomerWorld) -> None:
    turn = generated(service)
    deliver.deliver_reply(service.bridge, turn.id)
    following = generated(service, "next")
    fail(service, turn, 0, 6)
    letter = service.bridge.dead_letters.get(turn.id)
    assert letter is not None
    assert "more than five messages" in letter.error
    assert service.turn(following.id).open


def test_what_was_not_shown_after_several_of_the_customers_messages_becomes_a_dead_letter(
    service: CustomerWorld,
) -> None:
    turn = generated(service)
    deliver.deliver_reply(service.bridge, turn.id)
    most = {"$set": {"releases": service.bridge.settings.reply.most_releases}}
    service.bridge.turns.collection.update_one({"_id": turn.id}, most)
    fail(service, turn, 0, 4)
    assert service.turn(turn.id).state is TurnState.DEAD
    assert service.bridge.dead_letters.get(turn.id) is not None
