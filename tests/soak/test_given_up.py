"""The soak's verdict on turns that were given up: as designed, or too soon."""

from __future__ import annotations

from typing import Any

import pytest

from tests.soak.evidence import Evidence, Row
from tests.soak.plan import Plan
from tests.soak.record import ScriptedSend
from tests.soak.test_verdict import SAID, USER, evidence, inbox_row, record, shown, turn
from tests.soak.verdict import Verdict, judge
from wechat_bridge.model import keys

DEAD = SAID[1]
TURN_ID = f"turn-{DEAD.message_id}"
CLIENT_ID = keys.client_id(TURN_ID, 0)
APOLOGY = shown(keys.client_id(TURN_ID, -1), "sorry", 20.0)


def dead_turn(stage: str = "deliver", attempts: int = 4, **changes: Any) -> Row:
    counters = {"generate_attempts": attempts if stage == "reply" else 1, "deliver_attempts": 0, "releases": 0}
    if stage == "deliver":
        counters["deliver_attempts"] = attempts
    chunks = [{"client_id": CLIENT_ID}] if stage == "deliver" else []
    return turn(DEAD, state="dead", failed_stage=stage, chunks=chunks, **counters | changes)


def cut() -> ScriptedSend:
    return ScriptedSend("send cut before", DEAD, 0, CLIENT_ID, USER)


def lost(owner: str, state: str = "delivering") -> Row:
    return {"event": "turn_taken_over", "owner": owner, "state": state}


def away(attempt: int, stage: str = "deliver", error: str = "MongoDB: AutoReconnect in TurnStore.write") -> Row:
    return {"event": "turn_failed", "stage": stage, "attempt": attempt, "error": error}


def verdict(given_up: Row, setbacks: list[Row], scripted: int = 0, seen: list[Row] | None = None) -> Verdict:
    """Judge a run in which message 1 was given up after some failures."""
    found = record()
    found.scripted += [cut() for _ in range(scripted)]
    return judge(Plan(), found, what_is_left(given_up, setbacks, seen or []))


def what_is_left(given_up: Row, setbacks: list[Row], seen: list[Row], letters: list[Row] | None = None) -> Evidence:
    good = evidence()
    rows = [row for row in good.delivered[USER] if row["text"] != DEAD.text]
    return evidence(
        delivered={USER: [*rows, *seen]},
        inbox=good.inbox | {f"channel:{DEAD.message_id}": inbox_row(DEAD, "failed")},
        turns=good.turns | {TURN_ID: given_up},
        dead_letters=[{"_id": TURN_ID}] if letters is None else letters,
        setbacks={TURN_ID: setbacks},
    )


@pytest.mark.parametrize(
    ("setbacks", "scripted"),
    [
        ([], 4),
        ([lost("a"), lost("a"), lost("b")], 2),
        ([lost("a"), away(2), away(2), away(3)], 1),
        ([lost("a"), lost("b"), lost("c"), lost("d")], 0),
    ],
)
def test_a_turn_whose_every_attempt_met_a_failure_is_given_up_as_designed(setbacks: list[Row], scripted: int) -> None:
    found = verdict(dead_turn(), setbacks, scripted)

    assert (found.violations, found.given_up, found.answered) == ([], [DEAD], 2)
    [told] = found.given_up_as_designed
    assert TURN_ID in told


def test_so_is_one_whose_every_release_was_refused() -> None:
    found = verdict(dead_turn(attempts=1, releases=3), [], 4)

    assert (found.violations, len(found.given_up_as_designed)) == ([], 1)


@pytest.mark.parametrize(
    ("given_up", "setbacks", "scripted"),
    [
        (dead_turn(), [], 3),
        (dead_turn(attempts=3), [], 4),  # the ledger itself counts fewer
        (dead_turn(), [lost("a"), lost("a")], 2),  # two sweepers tell of one lost worker
        (dead_turn(), [lost("a", "generating")], 3),  # lost, but in another stage
        (dead_turn(), [away(1, "reply")], 3),
        (dead_turn(), [away(2), away(2)], 2),
        (dead_turn(), [away(2, error="POST sendmessage: no answer")], 3),  # no failure that was injected
    ],
)
def test_a_dead_letter_with_fewer_failures_than_its_budget_is_a_violation(
    given_up: Row, setbacks: list[Row], scripted: int
) -> None:
    found = verdict(given_up, setbacks, scripted)

    assert found.given_up_as_designed == []
    [complaint] = found.violations
    assert complaint.startswith("given up too soon, 4 failures were allowed for")


def test_a_turn_given_up_without_a_dead_letter_is_a_violation() -> None:
    found = record()
    found.scripted += [cut() for _ in range(4)]

    [complaint] = judge(Plan(), found, what_is_left(dead_turn(), [], [], letters=[])).violations
    assert complaint.startswith("given up without a dead letter")


@pytest.mark.parametrize(
    ("stage", "seen", "complaint"),
    [
        ("reply", [APOLOGY], None),
        ("reply", [], None),
        ("reply", [APOLOGY, APOLOGY], "the user read the apology 2 times"),
        ("deliver", [], None),
        ("deliver", [APOLOGY], None),
    ],
)
def test_who_is_given_up_on_reads_the_apology_once_at_most(stage: str, seen: list[Row], complaint: str | None) -> None:
    setbacks = [lost(owner, "generating" if stage == "reply" else "delivering") for owner in "abcd"]

    found = verdict(dead_turn(stage), setbacks, seen=seen).violations
    assert [text.partition(":")[0] for text in found] == ([complaint] if complaint else [])


def test_an_apology_for_a_turn_that_was_answered_is_a_violation() -> None:
    good = evidence()
    apology = shown(keys.client_id("turn-0", -1), "sorry")

    [found] = judge(Plan(), record(), evidence(delivered={USER: [*good.delivered[USER], apology]})).violations
    assert "a text nobody expects: 'sorry'" in found


def test_the_message_that_waited_behind_a_turn_given_up_is_not_excused() -> None:
    left = what_is_left(dead_turn(), [lost(owner) for owner in "abcd"], [])
    left.delivered[USER].pop()  # nor was message 2 answered, which is in a turn of its own

    [found] = judge(Plan(), record(), left).violations
    assert "lost: message 2" in found
