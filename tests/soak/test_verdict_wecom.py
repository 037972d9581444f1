"""The soak's verdict on messages to WeCom: what it finds, and what it excuses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.soak.evidence_wecom import APOLOGY, Arrival, Row, Texts
from tests.soak.plan import Plan
from tests.soak.record import Injected, Record, Said, ScriptedCall
from tests.soak.test_verdict import SAID, USER, evidence, inbox_row, record, shown, turn
from tests.soak.verdict import Verdict, judge
from wechat_bridge.model import keys
from wechat_bridge.model.channel import ChannelKind

TO_APP = [replace(said, kind=ChannelKind.WECOM) for said in SAID]
MISSING = TO_APP[1].message_id
NO_ANSWER = "no answer within 5 s"
GIVEN_UP = Arrival(100.0, None, ((100.0, 105.0, NO_ANSWER), (109.0, 109.1, "no answer: reset")), is_given_up=True)


def arrived(at: float, kept: float) -> Arrival:
    return Arrival(at, kept, (), is_given_up=False)


ARRIVALS = {said.message_id: arrived(number, number + 0.1) for number, said in enumerate(TO_APP)}


def run_of(*faults: Injected) -> Record:
    found = record()
    found.said = list(TO_APP)
    found.injected += faults
    return found


def without_one(arrival: Arrival, *faults: Injected, **changes: set[str]) -> Verdict:
    """Judge a run in which message 1 never came to be stored."""
    found = run_of(*faults)
    for name, value in changes.items():
        setattr(found, name, value)
    kept = [SAID[0], SAID[2]]
    left = evidence(
        delivered={USER: [shown(f"shown {said.message_id}", said.text) for said in kept]},
        inbox={row["_id"]: row for row in map(inbox_row, kept)},
        arrivals=ARRIVALS | {MISSING: arrival},
    )
    return judge(Plan(), found, left)


def test_a_message_whose_every_delivery_met_a_process_that_was_away_is_excused() -> None:
    found = without_one(GIVEN_UP, Injected("freeze web", "web-1", 99.0, 112.0))

    assert (found.violations, len(found.lost), sum(found.excused.values())) == ([], 0, 1)


@pytest.mark.parametrize(
    ("arrival", "faults"),
    [
        (GIVEN_UP, ()),
        (GIVEN_UP, (Injected("mongo pause", "mongo", 99.0, 112.0),)),  # then it belongs into the spill
        (GIVEN_UP, (Injected("kill web", "web-1", 50.0, 52.0),)),
        (replace(GIVEN_UP, is_given_up=False), (Injected("freeze web", "web-1", 99.0, 112.0),)),
        (replace(GIVEN_UP, failed=((100.0, 100.1, "HTTP 500"),)), (Injected("freeze web", "web-1", 99.0, 112.0),)),
        (arrived(100.0, 100.1), (Injected("freeze web", "web-1", 99.0, 112.0),)),  # answered, and not kept
    ],
)
def test_any_other_message_that_was_not_stored_is_lost(arrival: Arrival, faults: tuple[Injected, ...]) -> None:
    found = without_one(arrival, *faults)

    assert len(found.lost) == 1
    [complaint] = found.violations
    assert complaint.startswith("lost: message 1")


@pytest.mark.parametrize(("killed_at", "losses"), [(105.0, 0), (50.0, 1)])
def test_what_was_spilled_and_flushed_is_excused_with_the_process_that_knew_it(killed_at: float, losses: int) -> None:
    killed = Injected("kill web", "web-1", killed_at, killed_at + 1)

    found = without_one(arrived(100.0, 100.1), killed, spilled_and_flushed={MISSING})
    assert len(found.lost) == losses


def test_a_customer_whom_nobody_heard_is_lost_whatever_happened() -> None:
    found = run_of(Injected("freeze web", "web-1", 0.0, 200.0))
    found.said[1] = replace(SAID[1], kind=ChannelKind.WECOM_KF)
    kept = [SAID[0], SAID[2]]
    rows = {row["_id"]: row for row in map(inbox_row, kept)}

    left = evidence(delivered={USER: [shown(said.text, said.text) for said in kept]}, inbox=rows)
    assert [said.message_id for said in judge(Plan(), found, left).lost] == [MISSING]


def swapped(first: Arrival, second: Arrival, in_turn: str = "", stored: dict[str, float] | None = None) -> Verdict:
    """Judge a run in which the answer to message 0 came after that to message 1."""
    rows = [shown(f"shown {number}", SAID[number].text) for number in (1, 0, 2)]
    inbox: dict[str, Row] = {row["_id"]: row for row in map(inbox_row, SAID)}
    if in_turn:
        inbox |= {row["_id"]: row | {"turn_id": in_turn} for row in map(inbox_row, SAID[:2])}
    arrivals = ARRIVALS | {"0": first, "1": second}
    left = evidence(delivered={USER: rows}, inbox=inbox, arrivals=arrivals, stored=stored or {})
    return judge(Plan(), run_of(), left)


def test_what_arrived_later_may_be_answered_later() -> None:
    for first, second in ((arrived(2.0, 2.1), arrived(1.0, 1.1)), (arrived(1.0, 2.0), arrived(1.5, 1.6))):
        found = swapped(first, second)

        assert (found.violations, sum(found.excused.values())) == ([], 1)


def test_what_the_bridge_had_before_the_next_came_may_not_be_answered_after_it() -> None:
    [complaint] = swapped(arrived(1.0, 1.1), arrived(2.0, 2.1), stored={"0": 1.05, "1": 2.0}).violations

    assert complaint.startswith("out of order: message 0")


@pytest.mark.parametrize(
    ("stored", "complaints"),
    [
        ({"0": 5.0, "1": 2.0}, 0),
        ({"1": 2.0}, 0),  # stored from the spill, by a process whose ledger did not answer
        ({"0": 1.05, "1": 2.0}, 1),  # the ledger had it, before it was said to be kept
        ({"0": 3.0, "1": 4.0}, 0),  # so did the later one, for even longer
        ({"0": 1.2, "1": 2.0}, 1),
    ],
)
def test_what_was_kept_outside_the_ledger_is_told_apart(stored: dict[str, float], complaints: int) -> None:
    found = swapped(arrived(1.0, 1.1), arrived(2.0, 2.1), stored=stored)

    assert (len(found.out_of_order), len(found.violations)) == (complaints, complaints)
    assert dict(found.excused) == ({} if complaints else {"answered late, it was kept outside the ledger": 1})


@pytest.mark.parametrize("stored", [{}, {"0": 5.0, "1": 2.0}])
def test_nor_may_it_within_one_turn(stored: dict[str, float]) -> None:
    [complaint] = swapped(arrived(2.0, 2.1), arrived(1.0, 1.1), in_turn="turn-0", stored=stored).violations

    assert complaint.startswith("out of order: message 0")


def test_what_wecom_shows_twice_was_seen_twice() -> None:
    seen = [{"user_id": USER, "text": said.text, "msgid": "m", "at": 1.0} for said in (*SAID, SAID[2])]

    rows = list(Texts([]).shown(seen))
    found = judge(Plan(), run_of(), evidence(delivered={USER: rows}, arrivals=ARRIVALS))
    assert [said.message_id for said in found.twice] == ["2"]


def test_an_apology_is_known_by_the_turn_that_was_given_up() -> None:
    dead = turn(SAID[1], state="dead", user_id=USER, chunks=[])
    seen = [{"user_id": USER, "text": APOLOGY, "msgid": "m", "at": 1.0}]

    assert [row["client_id"] for row in Texts([dead]).shown(seen)] == [keys.client_id(dead["_id"], -1)]
    assert [row["client_id"] for row in Texts([]).shown(seen)] == ["shown 0 m"]


def test_outages_in_which_no_callback_came_fail_the_run() -> None:
    assert judge(Plan(), record(), evidence(spilled_callbacks=0)).violations == [
        "no callback was kept outside the ledger"
    ]
    assert judge(Plan(), record(), evidence(dropped_callbacks=0)).violations == [
        "no callback was left unanswered for WeCom to repeat it"
    ]
    assert judge(Plan(apps=0), record(), evidence(spilled_callbacks=0, dropped_callbacks=0)).violations == []


def test_a_failure_that_costs_no_attempt_does_not_explain_a_turn_given_up() -> None:
    given_up = turn(
        SAID[1],
        state="dead",
        failed_stage="deliver",
        chunks=[{"client_id": "c"}],
        generate_attempts=1,
        deliver_attempts=4,
        releases=0,
    )
    rows = [shown(f"shown {said.message_id}", said.text) for said in (SAID[0], SAID[2])]
    for kind, complaints in (("WeCom busy", 0), ("WeCom too many at once", 1), ("WeCom quota used up", 1)):
        found = run_of()
        found.calls += [ScriptedCall(kind, Said("", "", "", "", ""), 0.0, is_met=True, client_id="c")] * 4
        left = evidence(
            delivered={USER: rows},
            turns=evidence().turns | {"turn-1": given_up},
            dead_letters=[{"_id": "turn-1"}],
            arrivals=ARRIVALS,
        )

        assert len(judge(Plan(), found, left).violations) == complaints
