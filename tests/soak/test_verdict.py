"""The soak's verdict: what it finds, and what it excuses."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.soak.evidence import Evidence, Row
from tests.soak.plan import MET_FAULTS, SEND_FAULTS, Plan, all_kinds
from tests.soak.record import Injected, Record, Said, ScriptedCall, ScriptedSend
from tests.soak.verdict import judge

NOW = datetime(2026, 1, 1, tzinfo=UTC)
USER, BOT = "ann", "bot"
SAID = [Said(f"text {number}", str(number), "channel", BOT, USER) for number in range(3)]
SCRIPTED = [ScriptedSend(kind, SAID[0], 0, f"{kind} {number}") for kind in SEND_FAULTS for number in range(5)]
CALLS = [
    ScriptedCall(kind, SAID[0], 0.0, is_met=True) for kind in MET_FAULTS if kind not in SEND_FAULTS for _ in range(5)
]
STATS: Row = {"lost_batches": [], "unacknowledged_batches": [], "overlap_count": 0, "overlaps": []}


def record() -> Record:
    """A run in which three messages were said and every kind of fault happened."""
    found = Record()
    found.say(*SAID)
    found.injected = [Injected(kind, "somebody", 1.0, 2.0) for kind in all_kinds() for _ in range(5)]
    found.scripted, found.calls = list(SCRIPTED), list(CALLS)
    return found


def shown(client_id: str, text: str, at: float = 10.0) -> Row:
    return {"client_id": client_id, "text": text, "at": at, "refused": ""}


def inbox_row(said: Said, state: str = "done") -> Row:
    row_id = f"channel:{said.message_id}"
    turn_id = f"turn-{said.message_id}"
    return {"_id": row_id, "state": state, "reason": "", "turn_id": turn_id, "received_at": NOW}


def asked_again(at: float) -> Row:
    return {"process": "reply-1", "turn_id": "turn-0", "timestamp": datetime.fromtimestamp(at, UTC).isoformat()}


def turn(said: Said, **changes: Any) -> Row:
    fields = {"_id": f"turn-{said.message_id}", "message_ids": [f"channel:{said.message_id}"], "state": "sent"}
    counters: Row = {
        "open": False,
        "ring_at": None,
        "times": {},
        "generate_attempts": 1,
        "deliver_attempts": 1,
        "fence": 2,
    }
    return {**fields, **counters, "error": None, "park_reason": None, **changes}


def evidence(**changes: Any) -> Evidence:
    """A run in which every message was answered by itself, in order."""
    rows = [shown(f"client-{said.message_id}", said.text) for said in SAID]
    good = Evidence(
        delivered={USER: rows},
        sends=rows,
        stats={BOT: STATS},
        cursors={BOT: [0, 0, 1, 3]},
        inbox={row["_id"]: row for row in map(inbox_row, SAID)},
        turns={row["_id"]: row for row in map(turn, SAID)},
        dead_letters=[],
        acknowledged={},
        asked_again=[],
        setbacks={},
        crashes=[],
        dropped=set(),
        spilled_callbacks=1,
        dropped_callbacks=1,
    )
    return replace(good, **changes)


def violations(plan: Plan | None = None, **changes: Any) -> list[str]:
    return judge(plan or Plan(), record(), evidence(**changes)).violations


def test_a_good_run_has_no_violation() -> None:
    verdict = judge(Plan(), record(), evidence())

    assert (verdict.answered, verdict.repeats, verdict.violations) == (3, 0, [])


def test_a_merged_answer_and_a_repeat_under_the_same_client_id_are_fine() -> None:
    rows = [shown("a", "text 0\ntext 1"), shown("a", "text 0\ntext 1"), shown("b", "text 2")]

    verdict = judge(Plan(), record(), evidence(delivered={USER: rows}))

    assert (verdict.answered, verdict.repeats, verdict.violations) == (3, 1, [])


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        (["text 0", "text 1", "text 2", "text 1"], "answered 2 times"),
        (["text 0", "text 2"], "lost: message 1"),
        (["text 1", "text 0", "text 2"], "out of order: message 0"),
        (["text 0", "text 1", "text 2", "sorry"], "a text nobody expects"),
    ],
)
def test_what_a_user_should_not_see(texts: list[str], complaint: str) -> None:
    rows = [shown(f"client-{number}", text) for number, text in enumerate(texts)]

    [found] = violations(delivered={USER: rows})

    assert complaint in found


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"inbox": {"channel:0": inbox_row(SAID[0], "in_turn")}}, "still in_turn"),
        ({"turns": {"turn-0": turn(SAID[0], open=True, state="parked")}}, "is still open: parked"),
        ({"turns": {"turn-0": turn(SAID[0], ring_at=NOW)}}, "is closed but sent"),
        ({"acknowledged": {"client-1": [9.0]}}, "sent again though known to be accepted: client-1"),
        ({"stats": {BOT: STATS | {"overlap_count": 1, "overlaps": ["here"]}}}, "two living polls 1 times"),
        ({"cursors": {BOT: [0, 3, 1]}}, "moved back 1 times, first from 3 to 1"),
        ({"asked_again": [asked_again(500.0)]}, "the engine was asked again by reply-1"),
        ({"crashes": ["ops-1: KeyError"]}, "an error nobody expected, in ops-1: KeyError"),
    ],
)
def test_what_should_not_be_left_behind(changes: dict[str, Any], complaint: str) -> None:
    [found] = violations(**changes)

    assert complaint in found


def test_a_process_frozen_between_its_last_check_and_its_call_may_ask_again() -> None:
    frozen = record()
    frozen.injected.append(Injected("freeze reply", "reply-1", 487.0, 500.0))

    verdict = judge(Plan(), frozen, evidence(asked_again=[asked_again(500.1)]))
    assert (verdict.violations, sum(verdict.excused.values())) == ([], 1)
    [found] = judge(Plan(), frozen, evidence(asked_again=[asked_again(502.0)])).violations
    assert "asked again by reply-1" in found


def test_a_kind_of_fault_that_did_not_happen_fails_the_run() -> None:
    incomplete = record()
    incomplete.injected = [fault for fault in incomplete.injected if fault.kind != "mongo pause"]

    found = judge(Plan(), incomplete, evidence()).violations
    assert found == ["this kind of fault did not happen as often as planned: mongo pause"]


@pytest.mark.parametrize("kind", SEND_FAULTS)
def test_a_scripted_failure_that_no_send_has_met_fails_the_run(kind: str) -> None:
    unmet = record()
    unmet.scripted = [replace(each, client_id="") if each.client_id == f"{kind} 0" else each for each in SCRIPTED]

    found = judge(Plan(), unmet, evidence()).violations
    assert found == [f"of 5 planned only 4 were met by a call: {kind}"]


@pytest.mark.parametrize("kind", sorted(set(MET_FAULTS) - set(SEND_FAULTS)))
def test_so_does_one_that_no_call_of_wecom_has_met(kind: str) -> None:
    unmet, planned = record(), Plan().times(kind)
    unmet.calls = [replace(each, is_met=each.kind != kind) for each in CALLS]

    found = judge(Plan(), unmet, evidence()).violations
    assert found == [f"of {planned} planned only 0 were met by a call: {kind}"]


def one_missing(**batch: Any) -> dict[str, Any]:
    """Message 1 never arrived, and was in a batch of this kind."""
    entry = {"message_ids": ["1"], "at": 0.5, "reason": "somehow"}
    return {
        "delivered": {USER: [shown("a", "text 0"), shown("c", "text 2")]},
        "inbox": {row["_id"]: row for row in map(inbox_row, (SAID[0], SAID[2]))},
        "turns": {},
        "stats": {BOT: STATS | {name: [entry | given] for name, given in batch.items()}},
    }


def test_the_strict_cursor_may_lose_what_was_written_to_a_dead_connection() -> None:
    verdict = judge(Plan(cursor="strict"), record(), evidence(**one_missing(lost_batches={})))

    assert (verdict.violations, dict(verdict.excused)) == ([], {"lost batches, a poll worker was killed": 1})


def test_the_strict_cursor_may_lose_what_a_killed_poll_worker_held_but_not_what_another_did() -> None:
    strict = Plan(cursor="strict")

    assert violations(strict, **one_missing(unacknowledged_batches={"at": 0.5})) == []
    [found] = violations(strict, **one_missing(unacknowledged_batches={"at": 500.0}))
    assert "lost: message 1" in found


def test_the_redelivering_cursor_may_lose_nothing() -> None:
    [found] = violations(**one_missing(lost_batches={}))

    assert "lost: message 1" in found
