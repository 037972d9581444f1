"""Turns: one open turn a conversation, one worker a turn, and nothing written by who lost it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pymongo.database import Database

from tests.store.documents import NOW, turn
from tests.support.together import together
from wechat_bridge.model.turn import MOVES, Chunk, ChunkState, Turn, TurnState
from wechat_bridge.store.ledger import Document
from wechat_bridge.store.turns import Opening, TurnStore

LEASE = NOW + timedelta(seconds=60)
SECOND = timedelta(seconds=1)


@pytest.fixture
def turns(database: Database[Document]) -> TurnStore:
    """The store under test."""
    return TurnStore(database)


def stored(turns: TurnStore, turn_id: str) -> Turn:
    """A turn as it is stored."""
    found = turns.get(turn_id)
    assert found is not None
    return found


def claim(turns: TurnStore, turn_id: str, owner: str = "me") -> Turn | None:
    """Take a queued turn."""
    return turns.claim(turn_id, TurnState.QUEUED, TurnState.GENERATING, owner, NOW, LEASE)


def claimed(turns: TurnStore, share_id: str, **fields: Any) -> Turn:
    """A turn that was opened and taken."""
    given = turn(share_id, 1, **fields)
    assert turns.open(given) is Opening.OPENED
    found = claim(turns, given.id)
    assert found is not None
    return found


# opening


def test_a_conversation_has_one_open_turn(turns: TurnStore, share_id: str) -> None:
    first, second = turn(share_id, 1), turn(share_id, 2)
    assert turns.open(first) is Opening.OPENED
    assert turns.open(second) is Opening.BUSY
    assert turns.open(first) is Opening.EXISTS
    assert turns.open_of(first.chat_id) == first
    assert turns.busy_among([first.chat_id, "nobody"]) == {first.chat_id}
    assert turns.get(second.id) is None


def test_a_turn_that_ended_makes_room_and_is_never_opened_again(turns: TurnStore, share_id: str) -> None:
    mine = claimed(turns, share_id)
    turns.finish(mine, TurnState.SKIPPED, NOW, {})
    turns.close(mine.id, NOW)
    assert turns.open_of(mine.chat_id) is None
    assert turns.open(turn(share_id, 1)) is Opening.EXISTS
    assert turns.open(turn(share_id, 2)) is Opening.OPENED


def test_twenty_flushes_at_once_open_one_turn(turns: TurnStore, share_id: str) -> None:
    openings = together(20, lambda number: turns.open(turn(share_id, number)))
    assert openings.count(Opening.OPENED) == 1
    assert openings.count(Opening.BUSY) == 19
    again = together(20, lambda _: turns.open(turn(f"{share_id}-b", 1)))
    assert again.count(Opening.OPENED) == 1
    assert again.count(Opening.EXISTS) == 19


def test_a_turn_is_read_as_it_was_written(turns: TurnStore, share_id: str) -> None:
    given = turn(share_id, 1, times={"queued": NOW}, chunks=[Chunk(client_id="c", text="答 \U0001f469", at=NOW)])
    turns.open(given)
    assert stored(turns, given.id) == given


# claiming


def test_twenty_workers_claim_a_turn_and_one_gets_it(turns: TurnStore, share_id: str) -> None:
    given = turn(share_id, 1)
    turns.open(given)
    claims = together(20, lambda number: claim(turns, given.id, f"worker-{number}"))
    won = [found for found in claims if found is not None]
    assert len(won) == 1
    assert (won[0].state, won[0].fence, won[0].generate_attempts) == (TurnState.GENERATING, 1, 1)
    assert stored(turns, given.id).owner == won[0].owner


def test_two_threads_of_one_process_do_not_both_claim(turns: TurnStore, share_id: str) -> None:
    given = turn(share_id, 1)
    turns.open(given)
    claims = together(2, lambda _: claim(turns, given.id, "same owner"))
    assert sum(found is not None for found in claims) == 1


def test_a_turn_is_claimed_when_it_is_due_and_in_the_state_that_is_worked_on(turns: TurnStore, share_id: str) -> None:
    given = turn(share_id, 1, next_attempt_at=NOW + 9 * SECOND)
    turns.open(given)
    assert claim(turns, given.id) is None
    late = NOW + 9 * SECOND
    assert turns.claim(given.id, TurnState.GENERATED, TurnState.DELIVERING, "me", late, LEASE) is None
    assert stored(turns, given.id).fence == 0
    found = turns.claim(given.id, TurnState.QUEUED, TurnState.GENERATING, "me", late, LEASE)
    assert found is not None
    assert (found.lease_until, found.ring_at) == (LEASE, LEASE)
    assert claim(turns, "nothing") is None


def test_attempts_are_counted_before_the_work_starts(turns: TurnStore, share_id: str) -> None:
    mine = claimed(turns, share_id)
    turns.release(mine, TurnState.QUEUED, NOW, NOW)
    again = claim(turns, mine.id)
    assert again is not None
    assert (again.generate_attempts, again.deliver_attempts, again.fence) == (2, 0, 2)


# writing


def test_who_holds_the_claim_writes(turns: TurnStore, share_id: str) -> None:
    mine = claimed(turns, share_id, chunks=[Chunk(client_id="c0", text="a"), Chunk(client_id="c1", text="b")])
    sent = Chunk(client_id="c1", text="b", state=ChunkState.ACCEPTED, message_id=str(2**63), at=NOW)
    assert turns.write(mine, {"answer": "a b"})
    assert turns.write_chunk(mine, 1, sent, {"lease_until": LEASE + SECOND})
    now = stored(turns, mine.id)
    assert now.answer == "a b"
    assert [chunk.state for chunk in now.chunks] == [ChunkState.WAITING, ChunkState.ACCEPTED]
    assert (now.chunks[1], now.lease_until) == (sent, LEASE + SECOND)


@pytest.mark.parametrize("owner", ["me", "another"])
def test_who_lost_the_claim_writes_nothing(turns: TurnStore, share_id: str, owner: str) -> None:
    mine = claimed(turns, share_id, chunks=[Chunk(client_id="c0", text="a")])
    turns.release(mine, TurnState.QUEUED, NOW, NOW)
    before = claim(turns, mine.id, owner)
    assert before is not None
    assert not turns.write(mine, {"answer": "late"})
    assert not turns.write_chunk(mine, 0, Chunk(client_id="c0", text="late"))
    assert not turns.release(mine, TurnState.QUEUED, NOW, NOW)
    assert not turns.finish(mine, TurnState.DEAD, NOW, {"error": "late"})
    assert stored(turns, mine.id) == before


def test_who_gave_the_claim_back_writes_nothing_either(turns: TurnStore, share_id: str) -> None:
    mine = claimed(turns, share_id)
    turns.release(mine, TurnState.QUEUED, NOW, NOW)
    before = stored(turns, mine.id)
    assert before.owner is None
    assert not turns.finish(mine, TurnState.SKIPPED, NOW, {})
    assert stored(turns, mine.id) == before


def test_a_parked_turn_stays_open_and_is_not_swept(turns: TurnStore, share_id: str) -> None:
    mine = claimed(turns, share_id)
    turns.finish(mine, TurnState.PARKED, NOW, {"park_reason": "login_needed"})
    turns.close(mine.id, NOW)
    parked = stored(turns, mine.id)
    assert (parked.open, parked.ring_at, parked.owner) == (True, None, None)
    assert turns.parked(share_id, "login_needed") == [mine.id]
    assert turns.parked(share_id, "send_refused") == []
    assert turns.busy_among([mine.chat_id]) == set()


def test_a_parked_turn_is_released_once(turns: TurnStore, share_id: str) -> None:
    mine = claimed(turns, share_id)
    turns.finish(mine, TurnState.PARKED, NOW, {"park_reason": "send_refused"})
    released = together(5, lambda _: turns.unpark(mine, NOW, NOW + SECOND, 1))
    assert sum(released) == 1
    now = stored(turns, mine.id)
    assert (now.state, now.releases, now.park_reason, now.deliver_attempts) == (TurnState.GENERATED, 1, None, 0)


def test_only_a_turn_that_ended_is_closed(turns: TurnStore, share_id: str) -> None:
    mine = claimed(turns, share_id)
    turns.close(mine.id, NOW)
    assert stored(turns, mine.id).open
    turns.finish(mine, TurnState.DEAD, NOW, {})
    turns.close(mine.id, NOW)
    closed = stored(turns, mine.id)
    assert (closed.open, closed.ring_at, closed.times["closed"]) == (False, None, NOW)


def test_the_apology_is_noted_once(turns: TurnStore, share_id: str) -> None:
    mine = claimed(turns, share_id)
    assert sum(together(5, lambda _: turns.mark_apologized(mine.id))) == 1


@pytest.mark.parametrize("before", list(TurnState))
def test_turns_move_as_they_may_and_not_otherwise(turns: TurnStore, share_id: str, before: TurnState) -> None:
    is_held = before in (TurnState.GENERATING, TurnState.DELIVERING)
    given = turn(share_id, 1, state=before, owner="me" if is_held else None, fence=3)
    for act in (
        lambda: claim(turns, given.id),
        lambda: turns.claim(given.id, TurnState.GENERATED, TurnState.DELIVERING, "me", NOW, LEASE),
        lambda: turns.unpark(given, NOW, NOW, 1),
        lambda: turns.close(given.id, NOW),
        lambda: turns.rang(given, NOW),
    ):
        turns.collection.delete_many({"share_id": share_id})
        turns.open(given)
        act()
        after = stored(turns, given.id).state
        assert after is before or after in MOVES[before]


# the sweep's view


def test_the_sweep_sees_what_is_overdue_oldest_first_and_what_dead_owners_hold(turns: TurnStore, share_id: str) -> None:
    long_ago = NOW - timedelta(days=900)
    late = turn(f"{share_id}-a", 1, ring_at=long_ago + 2 * SECOND)
    later = turn(f"{share_id}-b", 1, ring_at=long_ago + SECOND)
    held = turn(f"{share_id}-c", 1, ring_at=NOW, owner=f"dead {share_id}", state=TurnState.GENERATING)
    resting = turn(f"{share_id}-d", 1, ring_at=None, state=TurnState.PARKED)
    for each in (late, later, held, resting):
        turns.open(each)
    horizon = long_ago + 3 * SECOND
    assert turns.overdue(horizon, [], 10) == [later, late]
    assert turns.overdue(horizon, [held.owner or ""], 10) == [later, late, held]
    assert turns.overdue(horizon, [], 1) == [later]
    assert turns.overdue(horizon, [held.owner or ""], 0) == []
    turns.rang(later, NOW)
    turns.rang(late, NOW)
    assert turns.overdue(horizon, [], 10) == []
    assert stored(turns, late.id).rings == 1


def test_a_ring_is_not_noted_on_a_turn_that_moved_on_meanwhile(turns: TurnStore, share_id: str) -> None:
    given = turn(share_id, 1)
    turns.open(given)
    claim(turns, given.id)
    turns.rang(given, NOW + 99 * SECOND)
    assert stored(turns, given.id).ring_at == LEASE


def test_a_ring_is_not_noted_on_a_turn_that_was_closed_meanwhile(turns: TurnStore, share_id: str) -> None:
    mine = claimed(turns, share_id)
    turns.finish(mine, TurnState.DEAD, NOW, {})
    dead = stored(turns, mine.id)
    turns.close(mine.id, NOW)
    turns.rang(dead, NOW + 99 * SECOND)
    assert stored(turns, mine.id).ring_at is None


def test_a_claim_is_taken_back_by_who_made_it_while_it_holds(turns: TurnStore, share_id: str) -> None:
    given = turn(share_id, 1)
    turns.open(given)
    args = (given.id, "my claim", TurnState.QUEUED, TurnState.GENERATING, NOW)
    turns.unclaim(*args)
    assert stored(turns, given.id) == given
    turns.claim(given.id, TurnState.QUEUED, TurnState.GENERATING, "me", NOW, LEASE, "my claim")
    turns.unclaim(*args)
    back = stored(turns, given.id)
    assert (back.state, back.owner, back.generate_attempts, back.ring_at) == (TurnState.QUEUED, None, 0, NOW)
    claim(turns, given.id, "another")
    before = stored(turns, given.id)
    turns.unclaim(*args)
    assert stored(turns, given.id) == before


@pytest.mark.parametrize(
    ("waiting", "working", "attempts"),
    [
        (TurnState.QUEUED, TurnState.GENERATING, "generate_attempts"),
        (TurnState.GENERATED, TurnState.DELIVERING, "deliver_attempts"),
    ],
)
def test_what_a_process_hands_back_is_due_at_once_uncounted_and_not_written_by_it_any_more(
    turns: TurnStore, share_id: str, waiting: TurnState, working: TurnState, attempts: str
) -> None:
    mine = turn(share_id, 1, state=waiting)
    others = turn(share_id, 2, state=waiting, chat_id=f"another-{share_id}")
    owner = f"owner-{share_id}"
    for each, holder in ((mine, owner), (others, "another")):
        turns.open(each)
        assert turns.claim(each.id, waiting, working, holder, NOW, LEASE)
    held = stored(turns, mine.id)
    assert turns.hand_back(owner, NOW + SECOND) == 1
    back = stored(turns, mine.id)
    assert (back.state, back.owner, back.next_attempt_at, back.ring_at) == (waiting, None, NOW + SECOND, NOW + SECOND)
    assert getattr(back, attempts) == 0
    assert not turns.write(held, {"answer": "late"})
    assert not turns.write(back.model_copy(update={"owner": owner, "fence": held.fence}), {"answer": "late"})
    assert stored(turns, others.id).state is working
    assert turns.hand_back(owner, NOW) == 0
