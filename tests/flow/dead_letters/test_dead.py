"""What is given up becomes one dead letter, with everything needed to understand it, wherever it has to be kept."""

from __future__ import annotations

import json
from datetime import UTC

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from tests.support.variations import engine, failing
from tests.support.world import World
from wechat_bridge.errors import BrokerUnavailable, EngineRefused, LedgerUnavailable
from wechat_bridge.flow.dead_letters import letters
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.dead_letters.refused import RefusedMessage, keep_failed_task, keep_refused_message
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.model.message import Item, ItemKind
from wechat_bridge.model.turn import Turn
from wechat_bridge.observe import alerts
from wechat_bridge.observe.alerts import Alerts
from wechat_bridge.store.dead_spill import DeadLetterSpill

RAW = '{"message_id":1,"context_token":"wx-nobody-may-see","text":"你好"}'
AWAY = LedgerUnavailable("MongoDB: AutoReconnect in record")


@pytest.fixture(autouse=True)
def _fresh_alerts(monkeypatch: pytest.MonkeyPatch) -> None:
    """No alert was raised before the test."""
    fresh = Alerts()
    monkeypatch.setattr(alerts, "raise_", fresh.raise_)
    monkeypatch.setattr(alerts, "clear", fresh.clear)


def given_up(world: World, text: str = "你好", raw: str = RAW) -> Turn:
    """A turn whose engine refused it; not recorded yet."""
    broken, _ = engine(world, EngineRefused("the key is wrong: api_key=sk-0123456789abcdef0123"))
    broken.receive(world.text(text, raw=raw))
    broken.make_due()
    turn = broken.flush()
    assert turn is not None
    assert broken.answer(turn).state == "dead"
    return world.turn(turn.id)


def letter_of(world: World, turn: Turn) -> DeadLetter:
    letter = world.bridge.dead_letters.get(turn.id)
    assert letter is not None
    return letter


def refused(body: bytes | str = b"[[1],{},{}]", **headers: object) -> RefusedMessage:
    return RefusedMessage(body, {"task": "nobody.knows", "id": "7", "root_id": "trace-7"} | headers,
                          "application/json", "reply")  # fmt: skip


def broker_letters(world: World) -> list[DeadLetter]:
    return [each for each in world.bridge.dead_letters.all_waiting() if not each.is_about_a_turn]


def counted(stage: str) -> float:
    return REGISTRY.get_sample_value("dlq_messages_total", {"stage": stage}) or 0.0


def test_a_letter_holds_what_is_needed_to_understand_it(world: World) -> None:
    before = world.bridge.clock.now()
    turn = given_up(world)
    record_dead_letter(world.bridge, turn.id)
    letter = letter_of(world, turn)
    assert (letter.id, letter.trace_id, letter.share_id) == (turn.id, turn.trace_id, world.share_id)
    assert (letter.stage, letter.event_type, letter.attempts) == ("reply", "text", 1)
    assert letter.error_class == "EngineRefused"
    assert "the key is wrong" in letter.error
    assert "Traceback" in letter.traceback
    assert before <= letter.first_failure_at <= letter.last_failure_at
    assert letter.last_failure_at.tzinfo is UTC or letter.last_failure_at.utcoffset() is not None
    assert letter.original[0]["id"] == turn.message_ids[0]
    assert json.loads(letter.original[0]["raw"])["text"] == "你好"
    assert letter.original[0]["items"][0]["text"] == "你好"


def test_no_secret_is_in_a_letter(world: World) -> None:
    turn = given_up(world)
    record_dead_letter(world.bridge, turn.id)
    found = world.bridge.dead_letters.collection.find_one({"_id": turn.id})
    assert "wx-nobody-may-see" not in str(found)
    assert "sk-0123456789abcdef0123" not in str(found)


def test_a_letter_is_counted_and_alerted_once_however_often_it_is_recorded(world: World) -> None:
    turn = given_up(world)
    before = counted("reply")
    with capture_logs() as lines:
        for _ in range(3):
            world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"open": True}})
            record_dead_letter(world.bridge, turn.id)
    assert counted("reply") == before + 1
    assert [line["cause"] for line in lines if line["event"] == "alert_raised"] == ["dead_letter"]


def test_a_message_too_long_for_a_letter_is_cut_and_says_so(world: World) -> None:
    turn = given_up(world, "x" * 50_000, raw="y" * 60_000)
    record_dead_letter(world.bridge, turn.id)
    original = letter_of(world, turn).original[0]
    assert original["raw"].endswith("(60000 characters in all)")
    assert original["items"][0]["text"].endswith("(50000 characters in all)")
    assert len(original["raw"]) < 17_000


def test_a_message_of_several_kinds_is_mixed(world: World) -> None:
    broken, _ = engine(world, EngineRefused("no"))
    items = (Item(kind=ItemKind.TEXT, text="see"), Item(kind=ItemKind.IMAGE))
    broken.receive(world.text("", items=items))
    broken.make_due()
    turn = broken.flush()
    assert turn is not None
    broken.answer(turn)
    record_dead_letter(world.bridge, turn.id)
    assert letter_of(world, turn).event_type == "mixed"


# the ledger is away


def test_a_letter_that_cannot_be_stored_waits_in_redis_until_the_sweep_stores_it(world: World) -> None:
    turn = given_up(world)
    away = failing(world, "dead_letters", "record", AWAY)
    with capture_logs() as lines:
        record_dead_letter(away.bridge, turn.id)
    critical = [line for line in lines if line["log_level"] == "critical"]
    assert [(line["event"], line["subject"]) for line in critical] == [("alert_raised", world.share_id)]
    assert "waits in Redis" in critical[0]["advice"]
    assert world.bridge.dead_letters.get(turn.id) is None
    with capture_logs() as lines:
        Sweeper().sweep(world.bridge)
    assert letter_of(world, turn).error_class == "EngineRefused"
    assert world.bridge.dead_spill.letters() == []
    assert "alert_cleared" in [line["event"] for line in lines]


def test_a_letter_that_neither_ledger_nor_broker_takes_is_tried_again_by_the_process(world: World) -> None:
    turn = given_up(world)
    away = failing(world, "dead_letters", "record", AWAY)
    away = failing(away, "dead_spill", "put", BrokerUnavailable("Redis: ConnectionError in put"))
    record_dead_letter(away.bridge, turn.id)
    assert world.bridge.dead_letters.get(turn.id) is None
    assert world.turn(turn.id).open, "the sweep rings for it again, should this process end first"
    away.bridge.unfinished.work_off()
    assert letter_of(world, turn).stage == "reply"


def test_redis_holds_so_many_letters_and_no_more(world: World) -> None:
    small = DeadLetterSpill(world.wired.redis, most_letters=1)
    record_dead_letter(world.bridge, (turn := given_up(world)).id)
    letter = letter_of(world, turn)
    small.put(letter)
    with pytest.raises(BrokerUnavailable, match="holds 1 dead letters already"):
        small.put(letter.model_copy(update={"id": "another"}))
    letters.drain(world.bridge)
    assert small.letters() == []


def test_a_letter_is_in_redis_once_however_often_it_is_put_there(world: World) -> None:
    record_dead_letter(world.bridge, (turn := given_up(world)).id)
    for _ in range(3):
        world.bridge.dead_spill.put(letter_of(world, turn))
    assert [each.id for each in world.bridge.dead_spill.letters()] == [turn.id]
    letters.drain(world.bridge)


# what reaches no task


def test_a_message_that_no_task_takes_is_kept_once_with_its_body_and_what_it_says_of_itself(world: World) -> None:
    message = refused('[[1],{"password":"hunter2x"},{}]', retries=2, argsrepr="('token=abcdefgh',)")
    for _ in range(2):
        keep_refused_message(world.bridge, message, "this version has no such task", KeyError("nobody.knows"))
    found = [each for each in broker_letters(world) if "hunter" in each.original[0]["raw"] or each.attempts == 3]
    assert [(each.stage, each.event_type, each.trace_id) for each in found] == [("broker", "doorbell", "trace-7")]
    original = found[0].original[0]
    assert (original["task"], original["task_id"], original["queue"]) == ("nobody.knows", "7", "reply")
    assert original["raw"] == '[[1],{"password":"***"},{}]'
    assert "abcdefgh" not in original["headers"]
    assert found[0].error.startswith("this version has no such task")


@pytest.mark.parametrize("body", [b"\xff\xfe\x00", "\ud800", "x" * 100_000, ""])
def test_any_body_can_be_kept(world: World, body: bytes | str) -> None:
    known = {each.id for each in broker_letters(world)}
    keep_refused_message(world.bridge, refused(body, huge=2**80, odd={"$a.b": "\ud800"}), "undecodable", None)
    new = [each for each in broker_letters(world) if each.id not in known]
    assert len(new) == 1
    assert len(new[0].original[0]["raw"]) < 17_000


def test_a_failed_task_about_no_turn_is_one_letter_for_what_it_was_about(world: World) -> None:
    for task_id in ("a", "b"):
        keep_failed_task(world.bridge, "wechat_bridge.flush_conversation", task_id, [world.chat()], ValueError("boom"))
    found = [each for each in broker_letters(world) if world.share_id in each.id]
    assert [(each.stage, each.error_class, each.error) for each in found] == [("task", "ValueError", "boom")]


def test_a_refused_message_waits_in_redis_while_the_ledger_is_away(world: World) -> None:
    away = failing(world, "dead_letters", "record", AWAY)
    keep_refused_message(away.bridge, refused(b"kept in redis"), "undecodable", None)
    assert [each.stage for each in world.bridge.dead_spill.letters()] == ["broker"]
    Sweeper().sweep(world.bridge)
    assert "kept in redis" in [each.original[0]["raw"] for each in broker_letters(world)]
