"""What is asked about turns."""

from __future__ import annotations

from datetime import timedelta

from pymongo.database import Database

from tests.store.documents import NOW, turn
from wechat_bridge.model.turn import Lane, TurnState
from wechat_bridge.store.ledger import Document
from wechat_bridge.store.turns import TurnStore

SECOND = timedelta(seconds=1)


def test_whether_a_question_was_answered_since_a_moment_is_known(database: Database[Document], share_id: str) -> None:
    turns = TurnStore(database)
    given, command = turn(share_id, 1, state=TurnState.SENT), turn(share_id, 2, state=TurnState.SENT, lane=Lane.COMMAND)
    turns.open(given)
    turns.open(command)
    turns.close(command.id, NOW)
    assert not turns.has_closed_since(given.chat_id, NOW)
    turns.close(given.id, NOW)
    assert turns.has_closed_since(given.chat_id, NOW)
    assert not turns.has_closed_since(given.chat_id, NOW + SECOND)
    assert not turns.has_closed_since(f"{given.chat_id}-other", NOW)
