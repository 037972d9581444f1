"""What can be known after a run from the simulated WeCom: what people really saw, what was sent, what arrived when."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.soak.record import Record, Said, ScriptedCall
from tests.soak.scripted_calls import SENDS
from wechat_bridge.model import keys
from wechat_bridge.model.channel import ChannelKind
from wechat_bridge.settings import ReplySettings
from wechat_bridge.simulators.wecom import WecomControl

Row = dict[str, Any]

APOLOGY = ReplySettings().apology
SHOWN = ("shown", "duplicate")


@dataclass(frozen=True)
class Arrival:
    """The deliveries of one message to an app. Times are Unix seconds.

    ``began`` is when the first of them reached the bridge, ``kept`` when the bridge had first said that it has the
    message; ``failed`` are begin, end and outcome of the others. ``is_given_up``: WeCom delivers it no more.
    """

    began: float
    kept: float | None
    failed: tuple[tuple[float, float, str], ...]
    is_given_up: bool


class Texts:
    """Finds the chunk by what a person got: no text is sent twice for different reasons, apologies apart."""

    def __init__(self, turns: Iterable[Row]) -> None:
        self._ids: dict[tuple[str, str], str] = {}
        self._dead: dict[str, list[str]] = {}
        for turn in turns:
            self._ids |= {(turn["user_id"], chunk["text"]): chunk["client_id"] for chunk in turn["chunks"]}
            if turn["state"] == "dead":
                self._dead.setdefault(turn["user_id"], []).append(keys.client_id(turn["_id"], -1))

    def client_id(self, user_id: str, text: str) -> str:
        """Return the client_id of a chunk; "" for a text of no turn."""
        return self._ids.get((user_id, text), "")

    def shown(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Return what one person saw. Unlike WeChat's, WeCom's client shows whatever it gets: no two rows are one."""
        apologies = 0
        for number, row in enumerate(rows):
            named = f"shown {number} {row['msgid']}"
            dead = self._dead.get(row["user_id"], [])
            if row["text"] == APOLOGY and dead:
                named = dead[min(apologies, len(dead) - 1)]
                apologies += 1
            yield {"client_id": named, "text": row["text"], "at": row["at"]}


def sends(control: WecomControl, texts: Texts) -> Iterator[Row]:
    """Return the sends of all apps and accounts, as those of WeChat are told."""
    for path in SENDS.values():
        for row in control.calls(path):
            body = json.loads(row["body"])
            user_id, text = str(body.get("touser", "")), str(body.get("text", {}).get("content", ""))
            outcome = row["outcomes"].get(user_id, "")
            refused = "" if outcome in SHOWN else outcome or f"errcode {row['errcode']}"
            named = texts.client_id(user_id, text)
            yield {"client_id": named, "user_id": user_id, "text": text, "at": row["at"], "refused": refused}


def arrivals(record: Record, control: WecomControl) -> dict[str, Arrival]:
    """Return how each message to an app arrived, by its id; repeats of it included."""
    by_id: dict[str, list[Row]] = {}
    for row in control.callbacks():
        by_id.setdefault(f"{row['fields'].get('FromUserName')}:{row['fields'].get('MsgId')}", []).append(row)
    of_apps = (said for said in record.said if said.kind is ChannelKind.WECOM)
    return {said.message_id: _arrival(by_id[said.message_id]) for said in of_apps}


def _arrival(rows: list[Row]) -> Arrival:
    attempts = [attempt for row in rows for attempt in row["attempts"] if attempt["outcome"] != "lost on the way"]
    kept = [attempt["at"] + attempt["seconds"] for attempt in attempts if attempt["accepted"]]
    failed = tuple(
        (attempt["at"], attempt["at"] + attempt["seconds"], attempt["outcome"])
        for attempt in attempts
        if not attempt["accepted"]
    )
    began = min((attempt["at"] for attempt in attempts), default=float("inf"))
    return Arrival(began, min(kept, default=None), failed, all(row["state"] == "given_up" for row in rows))


def name_calls(calls: Iterable[ScriptedCall], texts: Texts) -> None:
    """Note the chunks that met the failures."""
    for scripted in calls:
        if scripted.text:
            scripted.client_id = texts.client_id(scripted.user_id, scripted.text)


def of_wecom(said: Said) -> bool:
    """Whether a message was said to an app or to customer service."""
    return said.kind is not ChannelKind.ILINK
