"""What can be known after a run: from the simulated WeChat, from the ledger, and from the logs."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import Any

from tests.soak.evidence_wecom import Arrival, Texts, arrivals, name_calls, of_wecom, sends
from tests.soak.record import Record, Said
from tests.soak.stage import Stage, process_names
from tests.support.wecom_world import WecomWorld
from wechat_bridge.model import keys

Row = dict[str, Any]


@dataclass(frozen=True)
class Evidence:
    """Rows as the control API, the ledger and the log lines give them.

    ``delivered`` is by user, ``stats`` and ``cursors`` (the positions of a bot's polls in order) by bot,
    ``acknowledged`` the times at which a process had written that a chunk was accepted, by client_id; ``setbacks`` are
    the log lines about failed and lost attempts, by turn. ``arrivals`` are of the messages to apps of WeCom;
    ``stored`` is when a process first wrote that it had stored a message, by message id.
    ``spilled_callbacks`` and ``dropped_callbacks`` count those that the ledger could not keep, and that nobody could.
    """

    delivered: dict[str, list[Row]]
    sends: list[Row]
    stats: dict[str, Row]
    cursors: dict[str, list[int]]
    inbox: dict[str, Row]
    turns: dict[str, Row]
    dead_letters: list[Row]
    acknowledged: dict[str, list[float]]
    asked_again: list[Row]
    setbacks: dict[str, list[Row]]
    crashes: list[str]
    dropped: set[str]
    arrivals: dict[str, Arrival] = field(default_factory=dict)
    stored: dict[str, float] = field(default_factory=dict)
    spilled_callbacks: int = 0
    dropped_callbacks: int = 0


def collect(stage: Stage, record: Record) -> Evidence:
    """Read everything; nothing may run any more that could change it."""
    control, bridge = stage.system.control, stage.system.wired.bridge
    lines = list(_log_lines(stage.system.directory))
    bots = [world.bot_id for world in stage.worlds if not isinstance(world, WecomWorld)]
    turns = {row["_id"]: row for row in bridge.turns.collection.find()}
    texts = Texts(turns.values())
    name_calls(record.calls, texts)
    return Evidence(
        delivered=_delivered(stage, record, texts),
        sends=[*control.sends(), *sends(stage.wecom.control, texts)],
        stats={bot: control.stats(bot) for bot in bots},
        cursors={bot: [_position(poll["cursor"]) for poll in control.polls(bot)] for bot in bots},
        inbox={row["_id"]: row for row in bridge.inbox.collection.find({}, {"raw": 0})},
        turns=turns,
        dead_letters=list(bridge.dead_letters.collection.find()),
        acknowledged=_acknowledged(lines),
        asked_again=_asked_again(lines),
        setbacks=_setbacks(lines),
        crashes=sorted(f"{line['process']}: {_last_line(line)}" for line in lines if line["event"] == "task_crashed"),
        dropped={i for line in lines if line["event"] == "messages_dropped_at_stop" for i in line["message_ids"]},
        arrivals=arrivals(record, stage.wecom.control),
        stored=_stored(lines),
        spilled_callbacks=_count_of_web(lines, "messages_spilled"),
        dropped_callbacks=_count_of_web(lines, "callback_not_kept"),
    )


def _delivered(stage: Stage, record: Record, texts: Texts) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for said in sorted(record.said, key=lambda each: each.user_id):
        if said.user_id in found:
            continue
        if of_wecom(said):
            found[said.user_id] = list(texts.shown(stage.wecom.control.deliveries(said.user_id)))
        else:
            found[said.user_id] = stage.system.control.deliveries(said.user_id)
    return found


def _stored(lines: list[Row]) -> dict[str, float]:
    found: dict[str, float] = {}
    for line in lines:
        if line["event"] == "message_received":
            found[line["message_id"]] = min(written_at(line), found.get(line["message_id"], float("inf")))
    return found


def _count_of_web(lines: list[Row], event: str) -> int:
    """Count what a web process said of messages to apps; doorbells of customer service are never kept elsewhere."""
    told = (line for line in lines if line["event"] == event and line["process"].startswith("web"))
    return sum(str(line.get("share_id")).startswith("wecom-") for line in told)


def _position(cursor: str) -> int:
    """Return how many messages lie before a cursor of the simulated WeChat."""
    return int(base64.b64decode(cursor).decode().rpartition("/")[2]) if cursor else 0


def _log_lines(folder: Path) -> Iterator[Row]:
    for name in process_names():
        for text in (folder / f"{name}.log").read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                line = json.loads(text)
            except ValueError:  # a killed process may leave half a line
                continue
            if isinstance(line, dict) and "event" in line:
                yield line | {"process": name}


def _acknowledged(lines: list[Row]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for line in lines:
        if line["event"] == "chunk_sent":
            found.setdefault(keys.client_id(line["turn_id"], line["number"]), []).append(written_at(line))
    return found


def written_at(line: Row) -> float:
    """Return the Unix time of a log line."""
    return datetime.fromisoformat(line["timestamp"]).timestamp()


def _asked_again(lines: list[Row]) -> list[Row]:
    """Return the calls of an engine whose answer had been stored before."""
    stored: dict[str, str] = {}
    for line in lines:
        if line["event"] == "answer_stored":
            stored[line["turn_id"]] = min(line["timestamp"], stored.get(line["turn_id"], line["timestamp"]))
    called = [line for line in lines if line["event"] == "engine_called"]
    return [line for line in called if line["timestamp"] > stored.get(line["turn_id"], line["timestamp"])]


def _setbacks(lines: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for line in lines:
        if line["event"] in {"turn_failed", "turn_taken_over"}:
            found.setdefault(line["turn_id"], []).append(line)
    return found


def _last_line(line: Row) -> str:
    return str(line.get("exception", "")).strip().rpartition("\n")[2]


def life(evidence: Evidence, said: Said) -> str:
    """Tell the life of a message: its row, its turn, and what was sent for it."""
    row = evidence.inbox.get(keys.inbox_id(said.share_id, said.message_id))
    sends = [send for send in evidence.sends if said.text in send["text"]]
    parts = [
        f"message {said.message_id} {said.text!r} of {said.user_id}",
        *_arrival_life(evidence.arrivals.get(said.message_id)),
        _row_life(row),
        *(turn_life(turn) for turn in evidence.turns.values() if row and row["_id"] in turn["message_ids"]),
        *(f"send {clock(s['at'])} {s['client_id']} {s['refused'] or 'accepted'}" for s in sends),
    ]
    return "\n      ".join(parts)


def _arrival_life(arrival: Arrival | None) -> Iterator[str]:
    if arrival is not None and isfinite(arrival.began):
        kept = f"kept {clock(arrival.kept)}" if arrival.kept else "never kept"
        failed = (f"; {outcome} {clock(began)}-{clock(ended)}" for began, ended, outcome in arrival.failed)
        yield f"first came {clock(arrival.began)}, {kept}{''.join(failed)}"


def _row_life(row: Row | None) -> str:
    if row is None:
        return "never stored"
    return f"stored {clock(row['received_at'].timestamp())}, {row['state']} {row['reason']} in {row['turn_id']}"


def turn_life(turn: Row) -> str:
    """Tell the life of a turn as the ledger knows it."""
    times = ", ".join(f"{name} {clock(at.timestamp())}" for name, at in turn["times"].items())
    attempts = f"{turn['generate_attempts']}+{turn['deliver_attempts']} attempts, fence {turn['fence']}"
    return f"turn {turn['_id']} {turn['state']} open={turn['open']} ({times}), {attempts}, error {turn['error']}"


def clock(at: float) -> str:
    """Return the time of day of a Unix time."""
    return datetime.fromtimestamp(at).astimezone().strftime("%H:%M:%S.%f")[:-3]
