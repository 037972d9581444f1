"""Dead letters: recorded once, however often recording is tried."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pymongo.database import Database

from tests.store.documents import NOW
from tests.support.together import together
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.store.dead_letters import DeadLetterStore
from wechat_bridge.store.ledger import Document


@pytest.fixture
def letters(database: Database[Document]) -> DeadLetterStore:
    """The store under test."""
    return DeadLetterStore(database)


def letter(share_id: str) -> DeadLetter:
    """A turn that was given up."""
    return DeadLetter(
        id=f"wechat-reply:{share_id}:1", share_id=share_id, chat_id="c", stage="reply", error_class="EngineRefused",
        error="no", traceback="Traceback", attempts=1, original=[{"id": "1", "raw": "{}", "items": []}], trace_id="t",
        first_failure_at=NOW, last_failure_at=NOW,
    )  # fmt: skip


def test_a_letter_is_read_as_it_was_written(letters: DeadLetterStore, share_id: str) -> None:
    given = letter(share_id)
    letters.record(given)
    assert letters.get(given.id) == given
    assert letters.get("nothing") is None


def test_recording_again_keeps_the_first_and_notes_the_last_failure(letters: DeadLetterStore, share_id: str) -> None:
    given = letter(share_id)
    letters.record(given)
    later = NOW + timedelta(seconds=9)
    letters.record(given.model_copy(update={"error": "another", "first_failure_at": later, "last_failure_at": later}))
    assert letters.get(given.id) == given.model_copy(update={"last_failure_at": later})


def test_twenty_records_at_once_are_one(letters: DeadLetterStore, share_id: str) -> None:
    together(20, lambda _: letters.record(letter(share_id)))
    assert letters.collection.count_documents({"share_id": share_id}) == 1


def test_what_waits_for_somebody_is_told_by_channel(letters: DeadLetterStore, share_id: str) -> None:
    letters.record(letter(share_id))
    replayed = letter(share_id).model_copy(update={"id": f"{share_id}-replayed", "replayed_at": NOW})
    letters.record(replayed)
    assert letters.waiting()[share_id] == [NOW]
