"""What users of such bridges reported about lost, doubled and forgotten messages, with the reports' own inputs.

Entries 1, 7, 11, 12, 16, 17, 22 and 25 of the field reports; the number stands in each docstring.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.variations import ScriptedEngine, engine, process, using, wrapping
from tests.support.world import World
from wechat_bridge.channels.base import Polls
from wechat_bridge.engines.base import Answer, Question
from wechat_bridge.flow import deliver, reply
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.store import redis_keys

TEXT = {"type": 1, "text_item": {"text": "hi"}}
NO_ID: list[dict[str, Any]] = [{}, {"message_id": 0}, {"message_id": ""}, {"message_id": None}]


class Killed(BaseException):
    """The process is gone: nothing of it runs any further."""


def killed_at(world: World, part: str, method: str) -> World:
    """The world in whose process SIGKILL comes just before one call."""

    def call(*_: Any, **__: Any) -> Any:
        raise Killed

    return wrapping(process(world, "doomed"), part, method, call)


def answers(world: World, *polls: dict[str, Any]) -> None:
    """Let the next polls be answered so."""
    for answer in polls:
        world.control.script("getupdates", world.bot_id, answer={"ret": 0} | answer)


def message(world: World, **fields: Any) -> dict[str, Any]:
    """A message on the wire, from ann."""
    own = {"from_user_id": world.user(), "message_type": 1, "item_list": [TEXT], "context_token": "ct1"}
    return own | {"create_time_ms": 1_780_000_000_000} | fields


def settle(world: World) -> None:
    """Answer whatever waits, until nothing does, as the workers would."""
    world.make_due()
    while (turn := world.flush()) is not None:
        reply.generate_reply(world.bridge, turn.id)
        deliver.deliver_reply(world.bridge, turn.id)
        assert not world.turn(turn.id).open
        world.make_due()


def poll_again(world: World) -> None:
    """Poll as the process that takes over."""
    world.wired.redis.delete(redis_keys.poll_lock(world.share_id), redis_keys.poll_next(world.share_id))
    world.bridge.channels.free_links([{"_id": world.share_id, "poll_owner": "doomed"}], world.bridge.clock.now())
    process(world, "survivor").poll()


@pytest.mark.parametrize("restarted", [False, True])
def test_a_message_delivered_again_is_one_input_and_the_same_words_are_another(quick: World, restarted: bool) -> None:
    """Report 1: 7001 twice, then 7002 with the same text; also with a restart between the polls."""
    asked, scripted = engine(quick, "yes")
    first = message(asked, message_id=7001, seq=11)
    again = message(asked, message_id=7001, seq=11, context_token="another")
    second = message(asked, message_id=7002, seq=12)
    answers(asked, {"msgs": [first], "get_updates_buf": "B1"}, {"msgs": [again, second], "get_updates_buf": "B2"})
    asked.poll()
    settle(asked)
    (process(asked, "restarted") if restarted else asked).poll()
    settle(asked)
    assert [question.text for question in scripted.asked] == ["hi", "hi"]
    assert asked.delivered() == ["yes", "yes"]
    assert asked.channel.sync_buf == "B2"


def test_five_messages_while_the_engine_thinks_are_all_answered_though_its_worker_dies(quick: World) -> None:
    """Report 7: m1 takes long, m2 to m5 come meanwhile, the worker dies during m1."""
    asked, scripted = engine(quick, "yes")
    quick.receive(quick.text("m1"))
    quick.make_due()
    turn = quick.flush()
    assert turn is not None
    with pytest.raises(Killed):
        reply.generate_reply(killed_at(asked, "turns", "release").bridge, turn.id)
    for text in ("m2", "m3", "m4", "m5"):
        quick.receive(quick.text(text))
        quick.flush()
    survivor = process(asked, "survivor", dead=["doomed"])
    Sweeper().sweep(survivor.bridge)
    survivor.answer(turn)
    settle(survivor)
    assert [question.text for question in scripted.asked] == ["m1", "m1", "m2\nm3\nm4\nm5"]
    assert quick.delivered() == ["yes", "yes"]


def test_a_quiet_poll_is_no_failure_and_is_followed_at_once(quick: World) -> None:
    """Report 11: the server holds longer than it said; the failure count stays as it is."""
    quick.control.script("getupdates", quick.bot_id, answer={"msgs": [], "longpolling_timeout_ms": 10})
    quick.poll()
    door = quick.bridge.doors[quick.channel.kind]
    assert isinstance(door, Polls)
    short = door.poll(quick.bridge.channels.vault.open(quick.channel.sealed_account or ""), "", 0.01)
    assert short.messages == ()
    assert quick.wired.redis.get(redis_keys.poll_failures(quick.share_id)) in {None, "0"}
    assert quick.channel.last_error is None


def test_a_restart_keeps_cursor_row_and_context_together(quick: World) -> None:
    """Report 12: all processes die before the reply to m1; the server replays m1 to m20 when asked without a cursor."""
    history = [message(quick, message_id=9000 + number, context_token=f"ct{number}") for number in range(1, 21)]
    answers(quick, {"msgs": history[1:], "get_updates_buf": "B1"}, {"msgs": history[:1], "get_updates_buf": "B2"})
    quick.poll()
    settle(quick)
    heard = len(quick.delivered())
    quick.poll()
    answers(quick, {"msgs": history, "get_updates_buf": "B3"})
    quick.bridge.channels.collection.update_one({"_id": quick.share_id}, {"$set": {"sync_buf": ""}})
    restarted = process(quick, "restarted", dead=["doomed"])
    restarted.poll()
    settle(restarted)
    sends = quick.control.sends(quick.bot_id)
    assert len(quick.delivered()) == heard + 1
    assert sends[-1]["context_token"] == "ct1", "m1's own, stored with it"
    assert quick.channel.sync_buf == "B3"


@pytest.mark.parametrize("missing", NO_ID)
def test_a_message_without_an_id_is_known_again_by_what_it_says_and_when(quick: World, missing: dict[str, Any]) -> None:
    """Report 16: twice the same without an id, then the same text later: two turns."""
    same, later = message(quick, **missing), message(quick, **missing, create_time_ms=1_780_000_009_000)
    for number, each in enumerate((same, same, later)):
        answers(quick, {"msgs": [each], "get_updates_buf": f"B{number}"})
        quick.poll()
        settle(quick)
    assert quick.delivered() == ["hi", "hi"]


def test_equal_words_with_different_ids_are_two_messages(quick: World) -> None:
    """Report 16, the other side: a fingerprint of the content counts only where the id is missing."""
    for number in (1, 2):
        answers(quick, {"msgs": [message(quick, message_id=8000 + number)], "get_updates_buf": f"B{number}"})
        quick.poll()
        settle(quick)
    assert quick.delivered() == ["hi", "hi"]


@pytest.mark.parametrize("cursor", ["redeliver", "strict"])
@pytest.mark.parametrize(("part", "method"), [("conversations", "arm"), ("channels", "record_poll")])
def test_a_process_killed_between_the_rows_and_the_cursor_loses_and_doubles_nothing(
    quick: World, cursor: str, part: str, method: str
) -> None:
    """Report 17: variant A repeats for the old cursor, variant B never does."""
    quick.control.set_options(quick.bot_id, cursor=cursor)
    quick.control.say(quick.bot_id, quick.user(), "m1", "m2")
    with pytest.raises(Killed):
        killed_at(quick, part, method).poll()
    assert quick.channel.sync_buf == "", "no cursor was written"
    poll_again(quick)
    _let_the_sweep_find(quick)
    settle(quick)
    assert quick.delivered() == ["m1\nm2"]


def test_a_message_whose_first_delivery_could_not_be_stored_is_answered_on_its_second(quick: World) -> None:
    """Report 22: what was seen and what is stored are one write."""
    quick.control.set_options(quick.bot_id, cursor="redeliver")
    quick.control.say(quick.bot_id, quick.user(), "once")
    with pytest.raises(Killed):
        killed_at(quick, "inbox", "add").poll()
    assert quick.bridge.inbox.pending(quick.chat()) == []
    poll_again(quick)
    settle(quick)
    assert quick.delivered() == ["once"]


def test_nobody_takes_a_turn_over_before_its_engine_must_have_answered(quick: World) -> None:
    """Report 25: however long the engine takes within its deadline, no second copy starts beside it."""
    seen = []

    class LookingEngine(ScriptedEngine):
        """Looks at its own claim, and lets others try."""

        def answer(self, question: Question) -> Answer:
            """Note for how long the claim holds; doorbells and sweeps come meanwhile."""
            seen.append((quick.turn(question.turn_id).lease_until or now) - now)
            reply.generate_reply(process(world, "another").bridge, question.turn_id)
            Sweeper().sweep(process(world, "another").bridge)
            return super().answer(question)

    now, scripted = quick.bridge.clock.now(), LookingEngine("yes")
    world = using(quick, engines={"echo": scripted})
    world.receive(world.text("slowly"))
    settle(world)
    assert seen[0].total_seconds() > quick.bridge.settings.reply.engine_deadline_seconds
    assert len(scripted.asked) == 1
    assert quick.delivered() == ["yes"]


def _let_the_sweep_find(world: World) -> None:
    """Let so much time pass that rows nobody made due are noticed."""
    long_ago = world.bridge.clock.after(-60)
    world.bridge.inbox.collection.update_many({"share_id": world.share_id}, {"$set": {"received_at": long_ago}})
    Sweeper().sweep(world.bridge)
