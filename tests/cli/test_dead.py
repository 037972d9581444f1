"""Listing, showing, replaying and discarding what was given up, as an operator does."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.support import healthy
from tests.support.doorbells import taken
from tests.support.variations import engine
from tests.support.world import World
from wechat_bridge.errors import EngineRefused
from wechat_bridge.flow import reply
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.people import access_admin as admin
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.model.turn import Turn, TurnState


def dead(world: World, name: str = "ann", error: str = "the key is wrong") -> Turn:
    """A turn that was given up."""
    broken, _ = engine(world, EngineRefused(error))
    broken.receive(world.text("你好", name=name, raw='{"text":"你好","context_token":"nobody-may-see"}'))
    broken.make_due(name)
    turn = broken.flush(name)
    assert turn is not None
    reply.generate_reply(broken.bridge, turn.id)
    record_dead_letter(broken.bridge, turn.id)
    return turn


def listed(cli: Cli, world: World, *arguments: str) -> list[str]:
    """The ids that a list of this channel shows."""
    done = cli("dead", "list", "--share-id", world.share_id, "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return [letter["id"] for letter in json.loads(done.stdout)]


def letter_of(world: World, turn: Turn) -> DeadLetter:
    letter = world.bridge.dead_letters.get(turn.id)
    assert letter is not None
    return letter


def results(stdout: str) -> dict[str, tuple[bool, str]]:
    rows: list[dict[str, Any]] = json.loads(stdout)
    return {row["id"]: (row["ok"], row["detail"]) for row in rows}


def test_an_empty_list_says_so(cli: Cli, world: World) -> None:
    world.bridge.dead_letters.collection.delete_many({})
    done = cli("dead", "list")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "no dead letter waits for anybody\n")


@pytest.mark.slow
def test_the_list_shows_what_failed_last_first_and_the_filters_choose(cli: Cli, world: World) -> None:
    first, second = dead(world), dead(world, "bob", "the model is unknown")
    assert listed(cli, world, "--stage", "reply", "--since", "1h") == [second.id, first.id]
    assert listed(cli, world, "--error", "MODEL is") == [second.id]
    old = world.bridge.clock.now() - timedelta(hours=3)
    world.bridge.dead_letters.collection.update_one({"_id": first.id}, {"$set": {"last_failure_at": old}})
    assert listed(cli, world, "--since", "2h") == [second.id]
    table = cli("dead", "list", "--share-id", world.share_id, "--limit", "1")
    assert second.id in table.stdout
    assert "the model is unknown" in table.stdout
    assert "1 more; see them with --limit 2" in table.stderr


def test_what_is_shown_is_the_whole_record_without_a_secret(cli: Cli, world: World) -> None:
    turn = dead(world)
    done = cli("dead", "show", turn.id, "--json")
    fields = json.loads(done.stdout)
    assert (fields["id"], fields["trace_id"], fields["event_type"]) == (turn.id, turn.trace_id, "text")
    assert (fields["failedStage"], fields["attempts"]) == ("reply", 1)
    assert fields["error"].startswith("EngineRefused: ")
    assert "Traceback" in fields["stack"]
    assert fields["timestamp"].endswith("Z")
    [original] = fields["originalMessage"]
    assert json.loads(original["raw"])["text"] == original["items"][0]["text"] == "你好"
    assert "nobody-may-see" not in done.stdout + cli("dead", "show", turn.id).stdout


def test_a_letter_that_does_not_exist_is_an_error(cli: Cli) -> None:
    done = cli("dead", "show", "nothing")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: there is no dead letter nothing; `wechat-bridge dead list`")


def test_a_replayed_turn_is_answered_and_listed_no_more(cli: Cli, world: World) -> None:
    turn = dead(world)
    taken(world, "reply")
    done = cli("dead", "replay", turn.id)
    assert done.returncode == 0, done.stderr
    assert "the engine is asked again" in done.stdout
    assert [each.args for each in taken(world, "reply")] == [[turn.id]]
    assert world.answer(turn).state is TurnState.SENT
    assert listed(cli, world) == []
    assert "@" in str(letter_of(world, turn).replayed_by)
    again = cli("dead", "replay", turn.id)
    assert again.returncode == 1
    assert "was replayed already and is completed (sent)" in again.stdout


@pytest.mark.slow
def test_a_dry_run_changes_nothing(cli: Cli, world: World) -> None:
    turn = dead(world)
    before = world.turn(turn.id)
    for command, detail in (("replay", "the engine is asked again, if replayed"), ("discard", "not yet discarded")):
        done = cli("dead", command, "--share-id", world.share_id, "--dry-run", "--json")
        assert done.returncode == 0, done.stderr
        assert detail in results(done.stdout)[turn.id][1]
    assert world.turn(turn.id) == before
    assert letter_of(world, turn).waits


@pytest.mark.slow
def test_many_are_replayed_at_the_rate_given_and_the_refused_are_named(cli: Cli, world: World) -> None:
    turns = [dead(world, name) for name in ("ann", "bob", "cid")]
    healthy.open_turn(world.bridge, chat_id=world.chat("bob"))
    started = time.monotonic()
    done = cli("dead", "replay", "--share-id", world.share_id, "--rate", "2/s", "--json")
    assert time.monotonic() - started > 2 / 2
    assert done.returncode == 1
    found = results(done.stdout)
    assert [found[turn.id][0] for turn in turns] == [True, False, True]
    assert "another turn of this conversation is open" in found[turns[1].id][1]
    assert listed(cli, world) == [turns[1].id]


def test_a_turn_of_somebody_denied_since_is_replayed_only_by_force(cli: Cli, world: World) -> None:
    turn = dead(world)
    admin.deny(world.bridge, world.share_id, world.user(), "operator")
    done = cli("dead", "replay", turn.id)
    assert done.returncode == 1
    assert "not answered any more (access: the person is denied)" in done.stdout.replace("\n", " ")
    assert cli("dead", "replay", turn.id, "--force").returncode == 0
    assert world.turn(turn.id).open


def test_discarded_letters_wait_for_nobody(cli: Cli, world: World) -> None:
    turn, other = dead(world), dead(world, "bob", "something else")
    done = cli("dead", "discard", "--share-id", world.share_id, "--error", "something else")
    assert done.returncode == 0, done.stderr
    assert letter_of(world, turn).waits
    assert letter_of(world, other).discarded_at is not None


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        ([], "name dead letters by their ids"),
        (["an-id", "--stage", "reply"], "name dead letters by their ids"),
        (["--since", "soon"], "should be like 30min"),
        (["an-id", "--rate", "0/s"], "should be like 5/s"),
    ],
)
def test_what_is_meant_must_be_said(cli: Cli, arguments: list[str], advice: str) -> None:
    done = cli("dead", "replay", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert advice in " ".join(done.stderr.replace("│", "").split())
