"""Turns: the moves between their states, and the names of their chunks."""

from __future__ import annotations

import pytest

from wechat_bridge.model.turn import MOVES, TERMINAL, ChunkState, Turn, TurnState, chunks_of, state_of_replay


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
    """Customer service alone says afterwards that it did not show what it had accepted."""
    not_shown = {TurnState.PARKED, TurnState.DEAD}
    ends = {state: MOVES[state] for state in TERMINAL}
    assert ends == {TurnState.SENT: not_shown, TurnState.SKIPPED: frozenset(), TurnState.DEAD: frozenset()}


def test_an_answer_that_is_stored_is_never_asked_for_again() -> None:
    assert not reachable(TurnState.GENERATED) & {TurnState.QUEUED, TurnState.GENERATING}


def test_chunks_keep_their_client_id_on_every_attempt() -> None:
    first = chunks_of("wechat-reply:shop:1", ["a", "b"])
    again = chunks_of("wechat-reply:shop:1", ["a", "b"])
    assert [chunk.client_id for chunk in first] == [chunk.client_id for chunk in again]
    assert len({chunk.client_id for chunk in first}) == 2
    assert [(chunk.text, chunk.state) for chunk in first] == [("a", ChunkState.WAITING), ("b", ChunkState.WAITING)]


def test_files_come_after_the_texts_and_count_on() -> None:
    chunks = chunks_of("wechat-reply:shop:1", ["a"], ["out:1", "out:2"])
    assert [(chunk.text, chunk.media_id) for chunk in chunks] == [("a", None), ("", "out:1"), ("", "out:2")]
    assert len({chunk.client_id for chunk in chunks}) == 3


@pytest.mark.parametrize(("texts", "files", "state"), [
    (["a"], [], TurnState.GENERATED), ([], ["out:1"], TurnState.GENERATED), ([], [], TurnState.QUEUED),
])  # fmt: skip
def test_a_replay_sends_what_is_stored_be_it_a_file_alone(texts: list[str], files: list[str], state: TurnState) -> None:
    chunks = chunks_of("turn", texts, files)
    turn = Turn(id="turn", share_id="shop", chat_id="chat", user_id="ann", message_ids=("m",), trace_id="t",
                state=TurnState.DEAD, answer="".join(texts), chunks=chunks)  # fmt: skip
    assert state_of_replay(turn) is state


def test_a_replay_sends_an_answer_that_was_never_cut_because_its_check_failed() -> None:
    turn = Turn(id="turn", share_id="shop", chat_id="chat", user_id="ann", message_ids=("m",), trace_id="t",
                state=TurnState.DEAD, answer="an answer", unchecked=True)  # fmt: skip
    assert state_of_replay(turn) is TurnState.GENERATED
