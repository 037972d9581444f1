"""What was said in a conversation, for the human who answers in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from wechat_bridge.flow.context import Bridge
from wechat_bridge.model import keys
from wechat_bridge.model.message import InboxRow, said_at
from wechat_bridge.model.question import items_text
from wechat_bridge.model.turn import Lane, Turn, TurnState


@dataclass(frozen=True)
class Line:
    """One message in either direction; ``note`` says how it stands."""

    at: datetime
    who: str
    text: str
    note: str


def transcript(bridge: Bridge, share_id: str, user_id: str, most: int) -> list[Line]:
    """Return the last messages of a conversation, oldest first. Raises LedgerUnavailable."""
    chat_id = keys.chat_id(share_id, user_id)
    said = [_person(row) for row in bridge.access.rows_of(chat_id)]
    answered = [_answer(turn) for turn in bridge.access.answers_of(chat_id)]
    return sorted([*said, *answered], key=lambda line: line.at)[-most:]


def _person(row: InboxRow) -> Line:
    note = f"{row.state.value}: {row.reason}" if row.reason else row.state.value
    return Line(said_at(row), "person", items_text(row.items), note)


def _answer(turn: Turn) -> Line:
    at = turn.times.get(TurnState.SENT.value) or turn.times[TurnState.GENERATED.value]
    return Line(at, "operator" if turn.lane is Lane.NOTICE else "bot", turn.answer or "", turn.state.value)
