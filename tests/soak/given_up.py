"""Turns that were given up: as designed, every attempt used up by a failure that was injected, or too soon."""

from __future__ import annotations

from collections.abc import Iterator

from tests.soak.evidence import Evidence, Row, turn_life
from tests.soak.plan import QUOTA_FAULTS
from tests.soak.record import Record, ScriptedCall, ScriptedSend
from wechat_bridge.model import keys
from wechat_bridge.settings import ReplySettings

ATTEMPTS = ReplySettings().max_retries + 1
"""So many failures end a turn; as many refusals by WeChat do (``most_releases`` after the first)."""

WORKING = {"reply": "generating", "deliver": "delivering"}
COUNTERS = {"reply": "generate_attempts", "deliver": "deliver_attempts"}
NOT_COUNTED = ("WeCom too many at once", *QUOTA_FAULTS, "token expired")
"""Failures of WeCom that cost a turn no attempt."""

SERVERS = ("MongoDB: ", "Redis: ")
"""How the errors of failures begin that a server caused which the driver had stopped."""


def of_dead_turns(record: Record, evidence: Evidence) -> tuple[list[str], list[str]]:
    """Return the turns that were given up as designed, and what is wrong with those that were not."""
    designed: list[str] = []
    wrong: list[str] = []
    for turn in evidence.turns.values():
        if turn["state"] == "dead":
            failures = list(_failures(record, evidence, turn))
            complaints = list(_complaints(evidence, turn, len(failures)))
            told = f"{turn_life(turn)}; known failures: {', '.join(failures) or 'none'}"
            wrong += [f"{complaint}: {told}" for complaint in complaints]
            designed += [] if complaints else [told]
    return designed, wrong


def apology_ids(evidence: Evidence) -> set[str]:
    """Return the client_ids under which users of given-up turns may have read the apology."""
    return {_apology_id(turn) for turn in evidence.turns.values() if turn["state"] == "dead"}


def _apology_id(turn: Row) -> str:
    return keys.client_id(turn["_id"], -1)


def _failures(record: Record, evidence: Evidence, turn: Row) -> Iterator[str]:
    """Tell the failures of the stage that ended the turn, as far as the driver knows what caused them; never too many.

    One owner is counted once, however many sweepers took over from it.
    """
    stage = turn["failed_stage"]
    client_ids = {chunk["client_id"] for chunk in turn["chunks"]}
    yield from (scripted.kind for scripted in record.all_scripted() if _counts(scripted, client_ids))
    lines = evidence.setbacks.get(turn["_id"], [])
    yield from sorted({
        f"worker {line['owner']} lost"
        for line in lines
        if line["event"] == "turn_taken_over" and line["state"] == WORKING.get(stage)
    })  # fmt: skip
    failed = [line for line in lines if line["event"] == "turn_failed" and line["stage"] == stage]
    away = {line["attempt"]: line["error"] for line in failed if line["error"].startswith(SERVERS)}
    yield from away.values()


def _counts(scripted: ScriptedSend | ScriptedCall, client_ids: set[str]) -> bool:
    return scripted.client_id in client_ids and scripted.kind not in NOT_COUNTED


def _complaints(evidence: Evidence, turn: Row, failures: int) -> Iterator[str]:
    stage = turn["failed_stage"]
    if failures < ATTEMPTS or max(turn[COUNTERS[stage]], turn["releases"] + 1) < ATTEMPTS:
        yield f"given up too soon, {ATTEMPTS} failures were allowed for"
    if turn["_id"] not in {letter["_id"] for letter in evidence.dead_letters}:
        yield "given up without a dead letter"
    apologies = [row for rows in evidence.delivered.values() for row in rows if row["client_id"] == _apology_id(turn)]
    if len(apologies) > 1:  # one may be lost with the process that is about to send it, or refused like the answer
        yield f"the user read the apology {len(apologies)} times"
