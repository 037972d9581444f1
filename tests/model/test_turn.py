"""Turns: the moves between their states, and the names of their chunks."""

from __future__ import annotations

from wechat_bridge.model.turn import MOVES, TERMINAL, ChunkState, TurnState, chunks_of


def reachable(state: TurnState) -> set[TurnState]:
    """All states a turn can come to."""
    found: set[TurnState] = set()
    waiting = [state]
    while waiting:
        for move in MOVES[waiting.pop()] - found:
            found.add(move)
            waiting.append(move)
    return found


def test_every_state_is_reached_and_every_turn_can_end() -> None:
    assert set(MOVES) == set(TurnState)
    assert reachable(TurnState.QUEUED) == set(TurnState)
    assert all(reachable(state) & TERMINAL for state in set(TurnState) - TERMINAL)


def test_an_end_is_an_end() -> None:
    assert all(not MOVES[state] for state in TERMINAL)


def test_an_answer_that_is_stored_is_never_asked_for_again() -> None:
    assert not reachable(TurnState.GENERATED) & {TurnState.QUEUED, TurnState.GENERATING}


def test_chunks_keep_their_client_id_on_every_attempt() -> None:
    first = chunks_of("wechat-reply:shop:1", ["a", "b"])
    again = chunks_of("wechat-reply:shop:1", ["a", "b"])
    assert [chunk.client_id for chunk in first] == [chunk.client_id for chunk in again]
    assert len({chunk.client_id for chunk in first}) == 2
    assert [(chunk.text, chunk.state) for chunk in first] == [("a", ChunkState.WAITING), ("b", ChunkState.WAITING)]
