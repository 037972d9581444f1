"""What the verdict says of WeCom: which messages nobody could have kept, and which did not come in order."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from tests.soak.evidence import Evidence
from tests.soak.evidence_wecom import Arrival
from tests.soak.plan import Plan
from tests.soak.record import Injected, Record, Said
from wechat_bridge.model import keys

START_SECONDS = 8.0
"""So long after a web process was started again it may not answer yet."""

FLUSHED_SECONDS = 30.0
"""A message that was spilled and flushed is in the memory of its web process at most so long."""

AWAY = ("kill web", "terminate web", "freeze web", "both away")
"""Faults during which a callback may get no answer. Where only one of ledger and Redis is away, it gets one."""


def excuse(record: Record, evidence: Evidence, message: Said) -> str:
    """Say why a message to an app never came to be stored, where nobody could have helped it; else ""."""
    arrival = evidence.arrivals.get(message.message_id)
    if arrival is None:
        return ""
    if arrival.kept is None and arrival.is_given_up:
        is_known = all(_is_away(record, failed) for failed in arrival.failed)
        return "WeCom gave up its callback, each delivery met a process that was away" if is_known else ""
    if arrival.kept is not None and message.message_id in record.spilled_and_flushed:
        ends = [fault.began for fault in record.injected if fault.kind in {"kill web", "terminate web"}]
        ends += [at for name, at in record.restarts if name.startswith("web")]
        if any(-1.0 < at - arrival.kept < FLUSHED_SECONDS for at in ends):
            return "spilled and flushed, and its web process ended"
    return ""


def _is_away(record: Record, failed: tuple[float, float, str]) -> bool:
    began, ended, outcome = failed
    if not outcome.startswith("no answer"):
        return False
    return any(_overlaps(fault, began, ended) for fault in record.injected if fault.kind in AWAY)


def _overlaps(fault: Injected, began: float, ended: float) -> bool:
    return fault.began <= ended and began <= (fault.ended or float("inf")) + START_SECONDS


LOG_SECONDS = 0.2
"""Between what a process writes and what the simulated WeCom sees of it."""


def may_come_late(evidence: Evidence, earlier: Said, later: Said) -> bool:
    """Whether the answer to an earlier message may come after that to a later one: it had not arrived before that.

    In one turn both were there, so their order is the bridge's.
    """
    first, second = evidence.arrivals.get(earlier.message_id), evidence.arrivals.get(later.message_id)
    if first is None or second is None or _turn_of(evidence, earlier) == _turn_of(evidence, later):
        return False
    return not _is_before(first, second)


def was_kept_elsewhere(evidence: Evidence, earlier: Said, later: Said) -> bool:
    """Whether a message was taken without the ledger, so that its place among those of its person is best effort.

    The bridge drains the spill before what comes later where Redis says in time what it holds; with both servers away
    in turns it may not. A message that the ledger took is written to have been stored before it is answered. In one
    turn the order is the bridge's all the same.
    """
    arrival = evidence.arrivals.get(earlier.message_id)
    if arrival is None or arrival.kept is None or _turn_of(evidence, earlier) == _turn_of(evidence, later):
        return False
    return evidence.stored.get(earlier.message_id, inf) > arrival.kept + LOG_SECONDS


def _is_before(first: Arrival, second: Arrival) -> bool:
    return first.kept is not None and first.kept < second.began


def _turn_of(evidence: Evidence, said: Said) -> str | None:
    row = evidence.inbox.get(keys.inbox_id(said.share_id, said.message_id))
    return row["turn_id"] if row else None


def of_callbacks(plan: Plan, evidence: Evidence) -> Iterator[str]:
    """What the outages are there for has to happen: callbacks are kept outside the ledger, and left unanswered."""
    if plan.apps and plan.times("mongo pause") and not evidence.spilled_callbacks:
        yield "no callback was kept outside the ledger"
    if plan.apps and plan.times("both away") and not evidence.dropped_callbacks:
        yield "no callback was left unanswered for WeCom to repeat it"
