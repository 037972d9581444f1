"""Who asks for a human goes to the company's people at WeCom, and who asks for the bot comes back."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from tests.flow.customer_service.fixtures import service
from tests.support.customer_world import ENDED, HUMAN, CustomerWorld
from tests.support.mortal import Death, Killed
from tests.support.variations import using
from tests.support.world import World
from wechat_bridge.flow.customer_service.session import NOT_MOVED
from wechat_bridge.flow.people import access_admin, commands
from wechat_bridge.model import keys
from wechat_bridge.model.turn import Lane, Turn, TurnState
from wechat_bridge.observe import alerts
from wechat_bridge.simulators.wecom import WecomControl
from wechat_bridge.wiring import Wired

__all__ = ["service"]

NEW, QUEUE = 0, 2
BEGINS, ENDS = 1, 3
PARTS = ("channels", "access", "conversations", "turns", "inbox", "customer_service")
GET, MOVE = "kf/service_state/get", "kf/service_state/trans"


def opened(service: CustomerWorld, words: str) -> Turn:
    """A customer gives a command; the turn that it became."""
    service.say(words)
    service.pull()
    service.make_due()
    service.flush()
    turn = service.bridge.turns.open_of(service.chat(), Lane.COMMAND)
    assert turn is not None
    return turn


def command(service: CustomerWorld, words: str) -> World:
    """A customer gives a command, which is carried out."""
    service.answer(opened(service, words))
    return service


def state(service: CustomerWorld) -> int:
    """Who has the session at WeCom."""
    [customer] = service.control.kf_customers(service.open_kfid)
    return int(customer["service_state"])


def moves(service: CustomerWorld) -> int:
    """How often the session was moved, or was to be."""
    return len(service.control.calls(MOVE, service.bot_id))


def is_silent(service: CustomerWorld) -> bool:
    """Whether the bridge leaves a question of the customer to a human."""
    service.say("are you there?")
    service.pull()
    return bool(service.said()[-1][2] == "a human answers")


def test_who_asks_for_a_human_waits_among_the_companys_people_and_reads_so(service: CustomerWorld) -> None:
    command(service, "/human")
    assert state(service) == QUEUE
    assert service.delivered() == [commands.HUMAN_TEXT]
    assert is_silent(service)


def test_where_somebody_is_named_they_serve_the_customer_at_once(wired: Wired, wecom: WecomControl) -> None:
    named = CustomerWorld.of_account(wired, wecom, servicer_userid="LiSi")
    command(named, "/human")
    assert state(named) == HUMAN
    assert '"servicer_userid":"LiSi"' in str(wecom.calls(MOVE, named.bot_id)[0]["body"])


def test_who_asks_for_the_bot_again_is_told_and_the_next_question_is_answered(service: CustomerWorld) -> None:
    """WeCom gives no session back to an app; one that is ended begins anew with the next message."""
    command(service, "/human")
    command(service, "/bot")
    assert state(service) == ENDED
    assert service.delivered() == [commands.HUMAN_TEXT, commands.BOT_TEXT]
    service.say("hello")
    service.pull()
    service.settle()
    assert (state(service), service.delivered()[-1]) == (NEW, "hello")


def test_the_silence_lasts_as_long_as_the_session_and_ends_with_it(service: CustomerWorld) -> None:
    command(service, "/human")
    conversation = service.bridge.conversations.get(service.chat())
    assert conversation is not None
    assert conversation.access.human_until is not None
    left = (conversation.access.human_until - service.bridge.clock.now()).total_seconds()
    assert left > 2 * service.bridge.settings.reply.human_seconds
    service.session(HUMAN, BEGINS)
    service.session(ENDED, ENDS)
    service.pull()
    assert not is_silent(service)


def test_an_operator_moves_it_too_and_nobody_is_told_anything(service: CustomerWorld) -> None:
    service.say("hello")
    service.pull()
    service.settle()
    access_admin.set_human(service.bridge, service.share_id, service.user(), True, "op")
    assert (state(service), is_silent(service)) == (QUEUE, True)
    access_admin.set_human(service.bridge, service.share_id, service.user(), False, "op")
    assert state(service) == ENDED
    assert not is_silent(service)
    assert service.delivered() == ["hello"]


@pytest.mark.parametrize("call", [GET, MOVE])
@pytest.mark.parametrize("how", [{"errcode": 95016}, {"errcode": 48002}, {"cut": True}])
def test_where_wecom_refuses_the_bridge_is_silent_by_itself_and_the_operator_is_told_once(
    service: CustomerWorld, wecom: WecomControl, call: str, how: dict[str, object]
) -> None:
    wecom.script(call, service.bot_id, times=None, **how)
    with capture_logs() as records:
        command(service, "/human")
        command(service, "/human")
    told = [record["advice"] for record in records if record.get("cause") == NOT_MOVED]
    wecom.clear_script()
    alerts.clear(NOT_MOVED, service.share_id)
    assert len(told) == 1
    assert f"wechat-bridge send {service.share_id}" in told[0]
    assert state(service) == NEW
    assert service.delivered() == [commands.HUMAN_TEXT, commands.HUMAN_TEXT]
    assert is_silent(service)


def test_a_session_that_wecom_does_not_end_stays_with_the_human(service: CustomerWorld, wecom: WecomControl) -> None:
    command(service, "/human")
    wecom.script(MOVE, service.bot_id, errcode=95016)
    command(service, "/bot")
    alerts.clear(NOT_MOVED, service.share_id)
    assert (state(service), is_silent(service)) == (QUEUE, True)
    assert service.delivered() == [commands.HUMAN_TEXT]


def commanded(service: CustomerWorld, words: str) -> Turn:
    """The turn of a command that nobody has carried out."""
    if words == "/bot":
        command(service, "/human")
    return opened(service, words)


def carry_out(service: CustomerWorld, turn: Turn, death: Death) -> None:
    """Carry a command out, in a process with this fate."""
    parts = {name: death.within(name, getattr(service.bridge, name)) for name in PARTS}
    rows = service.bridge.inbox.claim(turn.message_ids, turn.id)
    commands.run_command(using(service, **parts).bridge, turn, rows)


@pytest.mark.slow
@pytest.mark.parametrize(("words", "moved"), [("/human", QUEUE), ("/bot", ENDED)])
def test_wherever_a_process_dies_that_moves_a_session_the_next_one_ends_it_and_nothing_is_done_twice(
    wired: Wired, wecom: WecomControl, words: str, moved: int
) -> None:
    whole, case = Death(0), CustomerWorld.of_account(wired, wecom)
    carry_out(case, commanded(case, words), whole)
    assert {"customer_service.move_session 1", "customer_service.send_on_event 1", "access.decide 1"} <= set(
        whole.calls
    )
    for number, name in enumerate(whole.calls, 1):
        case = CustomerWorld.of_account(wired, wecom)
        turn = commanded(case, words)
        before, seen = moves(case), case.delivered()
        with pytest.raises(Killed):
            carry_out(case, turn, Death(number))
        case.answer(turn)
        assert (state(case), moves(case) - before) == (moved, 1), name
        text = commands.HUMAN_TEXT if words == "/human" else commands.BOT_TEXT
        told = [] if name == "customer_service.move_session 1" else [text]  # the code of the move died with it
        assert case.delivered() == seen + told, name
        assert case.turn(turn.id).open is False, name
        assert is_silent(case) is (words == "/human"), name


def test_the_turn_of_such_a_command_says_how_it_was_told(service: CustomerWorld) -> None:
    command(service, "/human")
    [turn] = [
        service.turn(row["_id"])
        for row in service.bridge.turns.collection.find({"share_id": service.share_id}, {"_id": 1})
    ]
    assert (turn.state, turn.open, turn.error) == (TurnState.SKIPPED, False, "done; WeCom was to say so")


def test_a_channel_that_moves_no_sessions_answers_by_hand(wired: Wired, wecom: WecomControl) -> None:
    kept = CustomerWorld.of_account(wired, wecom, moves_sessions=False)
    command(kept, "/human")
    assert (state(kept), kept.delivered()) == (NEW, [commands.HUMAN_TEXT])
    command(kept, "/bot")
    assert (moves(kept), kept.delivered()) == (0, [commands.HUMAN_TEXT, commands.BOT_TEXT])


def test_the_operator_reads_where_to_answer(service: CustomerWorld, wired: Wired, wecom: WecomControl) -> None:
    for world, words in (
        (service, "answer in WeCom's client"),
        (CustomerWorld.of_account(wired, wecom, moves_sessions=False), "answer with: wechat-bridge send"),
    ):
        with capture_logs() as records:
            command(world, "/human")
        [advice] = [record["advice"] for record in records if record.get("cause") == "human_wanted"]
        alerts.clear("human_wanted", keys.chat_id(world.share_id, world.user()))
        assert advice.startswith(words)
