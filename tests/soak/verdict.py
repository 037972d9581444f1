"""Compares what was said with what the users saw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from tests.soak.evidence import Evidence, Row, clock, life, turn_life, written_at
from tests.soak.given_up import apology_ids, of_dead_turns
from tests.soak.plan import MET_FAULTS, Plan, all_kinds
from tests.soak.record import Injected, Record, Said
from tests.soak.verdict_wecom import excuse as excuse_of_wecom
from tests.soak.verdict_wecom import may_come_late, of_callbacks, was_kept_elsewhere
from wechat_bridge.model import keys
from wechat_bridge.model.channel import ChannelKind

HELD_SECONDS = 15.0
"""A poll worker may hold a batch so long before it is durable: as long as one try to reach MongoDB takes."""

WAKE_SECONDS = 1.0
"""A thread of a process that was frozen goes on within so long."""


@dataclass
class Verdict:
    """What came out. ``violations`` are in words, each with its evidence; a good run has none."""

    messages: int
    answered: int = 0
    twice: list[Said] = field(default_factory=list)
    lost: list[Said] = field(default_factory=list)
    out_of_order: list[Said] = field(default_factory=list)
    given_up: list[Said] = field(default_factory=list)
    given_up_as_designed: list[str] = field(default_factory=list)
    excused: Counter[str] = field(default_factory=Counter)
    repeats: int = 0
    violations: list[str] = field(default_factory=list)


def judge(plan: Plan, record: Record, evidence: Evidence) -> Verdict:
    """Judge a run that has come to rest."""
    verdict = Verdict(len(record.said))
    for user_id in evidence.delivered:
        _judge_user(plan, record, evidence, verdict, user_id)
    verdict.violations += record.complaints
    verdict.violations += [*_open_ends(record, evidence), *_of_sends(evidence), *_of_polls(evidence)]
    verdict.violations += [f"an error nobody expected, in {crash}" for crash in evidence.crashes]
    _judge_calls(record, evidence, verdict)
    verdict.violations += [*_of_scripts(plan, record), *of_callbacks(plan, evidence)]
    verdict.given_up_as_designed, given_up_too_soon = of_dead_turns(record, evidence)
    verdict.violations += given_up_too_soon
    missing = [kind for kind in all_kinds() if plan.times(kind) > record.counts()[kind]]
    verdict.violations += [f"this kind of fault did not happen as often as planned: {kind}" for kind in missing]
    return verdict


def _judge_user(plan: Plan, record: Record, evidence: Evidence, verdict: Verdict, user_id: str) -> None:
    said = {message.text: message for message in record.said if message.user_id == user_id}
    rows = _first_showings(evidence.delivered[user_id])
    verdict.repeats += len(evidence.delivered[user_id]) - len(rows)
    apologies = apology_ids(evidence)
    lines = [line for row in rows if row["client_id"] not in apologies for line in row["text"].split("\n")]
    counts = Counter(lines)
    verdict.answered += sum(text in counts for text in said)
    verdict.violations += [f"{user_id} saw a text nobody expects: {line!r}" for line in counts if line not in said]
    for text, message in said.items():
        if counts[text] > 1:
            verdict.twice.append(message)
            verdict.violations.append(f"answered {counts[text]} times: {life(evidence, message)}")
        elif not counts[text]:
            _judge_missing(plan, record, evidence, verdict, message)
    _judge_order(evidence, verdict, list(said), [line for line in lines if line in said], said)


def _first_showings(rows: list[Row]) -> list[Row]:
    found: dict[str, Row] = {}
    for row in rows:
        found.setdefault(row["client_id"], row)
    return list(found.values())


def _judge_order(
    evidence: Evidence, verdict: Verdict, order: list[str], seen: list[str], said: dict[str, Said]
) -> None:
    """A message is out of order when its answer comes after that of a later one, unless it arrived only then."""
    late = _unacknowledged(evidence)
    place = {text: number for number, text in enumerate(order)}
    furthest = -1
    for number, text in enumerate(shown := list(dict.fromkeys(seen))):
        if place[text] < furthest:
            if said[text].message_id in late:
                verdict.excused["answered late, its poll was frozen"] += 1
                continue
            before = [said[each] for each in shown[:number] if place[each] > place[text]]
            if excuse := _why_late(evidence, said[text], before):
                verdict.excused[excuse] += 1
                continue
            verdict.out_of_order.append(said[text])
            verdict.violations.append(f"out of order: {life(evidence, said[text])}")
        furthest = max(furthest, place[text])


def _why_late(evidence: Evidence, message: Said, before: list[Said]) -> str:
    if all(may_come_late(evidence, message, each) for each in before):
        return "answered late, its callback came late"
    if all(may_come_late(evidence, message, each) or was_kept_elsewhere(evidence, message, each) for each in before):
        return "answered late, it was kept outside the ledger"
    return ""


def _unacknowledged(evidence: Evidence) -> dict[str, Row]:
    """Return the batches that a client was given and did not acknowledge, by message (strict cursor only)."""
    batches = [batch for stats in evidence.stats.values() for batch in stats["unacknowledged_batches"]]
    return {message_id: batch for batch in batches for message_id in batch["message_ids"]}


def _judge_missing(plan: Plan, record: Record, evidence: Evidence, verdict: Verdict, message: Said) -> None:
    row = evidence.inbox.get(keys.inbox_id(message.share_id, message.message_id))
    turn = evidence.turns.get(row["turn_id"]) if row and row["turn_id"] else None
    if turn and turn["state"] == "dead":
        verdict.given_up.append(message)
        return
    excuse = _why_missing(plan, record, evidence, message) if row is None else ""
    if excuse:
        verdict.excused[excuse] += 1
        return
    verdict.lost.append(message)
    how = "dropped at SIGTERM with both servers away" if message.message_id in evidence.dropped else "lost"
    verdict.violations.append(f"{how}: {life(evidence, message)}")


def _why_missing(plan: Plan, record: Record, evidence: Evidence, message: Said) -> str:
    if message.kind is not ChannelKind.ILINK:
        return excuse_of_wecom(record, evidence, message)
    return _excuse(record, evidence, message.message_id) if plan.cursor == "strict" else ""


def _excuse(record: Record, evidence: Evidence, message_id: str) -> str:
    """Say why a server that hands out only once has lost a message, where nobody could have helped it.

    Nothing is excused by a SIGTERM: only a poll worker that ended at once takes a batch with it.
    """
    if message_id in record.spilled_and_flushed:
        return "spilled to Redis while MongoDB was away, and flushed there"
    for name in ("lost_batches", "unacknowledged_batches"):
        for batch in (batch for stats in evidence.stats.values() for batch in stats[name]):
            if message_id in batch["message_ids"]:
                end = _sudden_end(record, batch["at"])
                return f"{name.replace('_', ' ')}, {end}" if end else ""
    return ""


def _sudden_end(record: Record, at: float) -> str:
    """Say which end of a poll worker may have met a batch of this time; empty when there was none."""
    kills = [fault.began for fault in record.injected if fault.kind == "kill poll"]
    if any(-1.0 <= began - at <= HELD_SECONDS for began in kills):
        return "a poll worker was killed"
    by_themselves = [found for name, found in record.restarts if name.startswith("poll")]
    return "a poll worker ended by itself" if any(-1.0 <= found - at <= HELD_SECONDS for found in by_themselves) else ""


def _open_ends(record: Record, evidence: Evidence) -> Iterator[str]:
    """What should not be left in the ledger when everything is quiet."""
    by_id = {keys.inbox_id(said.share_id, said.message_id): said for said in record.said}
    for row in evidence.inbox.values():
        if row["state"] in {"pending", "in_turn"}:
            yield f"still {row['state']}: {life(evidence, by_id[row['_id']])}"
    for turn in evidence.turns.values():
        if turn["open"]:
            yield f"turn {turn['_id']} is still open: {turn['state']} {turn['park_reason'] or ''} {turn['error']}"
        elif turn["ring_at"] is not None or turn["state"] not in {"sent", "skipped", "dead"}:
            yield f"turn {turn['_id']} is closed but {turn['state']}, with ring_at {turn['ring_at']}"


def _of_sends(evidence: Evidence) -> Iterator[str]:
    """A chunk that a process knew to be accepted is never sent again."""
    for send in evidence.sends:
        known = evidence.acknowledged.get(send["client_id"], [])
        if any(at < send["at"] for at in known):
            yield f"sent again though known to be accepted: {send['client_id']} {send['text']!r}"


def _judge_calls(record: Record, evidence: Evidence, verdict: Verdict) -> None:
    """An engine is not asked for an answer that is stored, but by a process frozen after its last check."""
    for line in evidence.asked_again:
        at, name = written_at(line), line["process"]
        if any(_woke_up(fault, name, at) for fault in record.injected):
            verdict.excused["engine asked again by a process frozen between its last check and its call"] += 1
            continue
        turn = evidence.turns.get(line["turn_id"])
        known = turn_life(turn) if turn else line["turn_id"]
        verdict.violations.append(f"the engine was asked again by {name} at {clock(at)}: {known}")


def _woke_up(fault: Injected, name: str, at: float) -> bool:
    is_of_process = fault.target == name and fault.kind.startswith("freeze")
    return is_of_process and fault.ended is not None and -WAKE_SECONDS < at - fault.ended < WAKE_SECONDS


def _of_scripts(plan: Plan, record: Record) -> Iterator[str]:
    """A scripted failure is a fault only once a send has met it."""
    met = Counter(scripted.kind for scripted in record.all_scripted() if scripted.is_met)
    for kind in MET_FAULTS:
        if met[kind] < plan.times(kind):
            yield f"of {plan.times(kind)} planned only {met[kind]} were met by a call: {kind}"


def _of_polls(evidence: Evidence) -> Iterator[str]:
    for bot_id, stats in evidence.stats.items():
        if stats["overlap_count"]:
            yield f"{bot_id} had two living polls {stats['overlap_count']} times, first {stats['overlaps'][0]}"
    for bot_id, cursors in evidence.cursors.items():
        back = [(before, after) for before, after in pairwise(cursors) if after < before]
        if back:
            yield f"the cursor of {bot_id} moved back {len(back)} times, first from {back[0][0]} to {back[0][1]}"
