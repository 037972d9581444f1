"""Try a given-up turn again after repair, or decide that nobody will.

A replayed turn keeps its id, which the messages carry: nothing is asked or sent under another name. Where an answer is
stored, sending goes on after the last chunk that WeChat accepted and the engine is not asked again; else the engine is
asked anew. Attempts begin again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from wechat_bridge.errors import BridgeError, DeadLetterUnknown, ReplayRefused
from wechat_bridge.flow.close import ROWS_AFTER
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.people.access_replay import check_still_answered
from wechat_bridge.flow.ring import ring_turn
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.model.turn import Turn, TurnState, state_of_replay
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.turns import Opening

log = logger(__name__)


@dataclass(frozen=True)
class Handled:
    """What became of one dead letter: ``error`` says why nothing did."""

    id: str
    detail: str
    error: BridgeError | None = None


def replay(bridge: Bridge, turn_id: str, by: str, *, force: bool = False) -> str:
    """Open a given-up turn again; return what happens next. ``by`` names who asked for it.

    Raises DeadLetterUnknown, and ReplayRefused when the turn is open or completed, when its letter was discarded,
    while another turn of its conversation is open, or (without ``force``) when its person is not answered any more.
    """
    if bridge.event_letters is not None and _letter(bridge, turn_id).is_about_an_event:
        return bridge.event_letters.resubmit(turn_id, by)
    _finish_half_done(bridge, turn_id, by)
    turn, state = _replayable(bridge, turn_id, force)
    now = bridge.clock.now()
    ring_at = bridge.clock.after(bridge.settings.sweep.ring_again_seconds)
    opening = bridge.turns.reopen(turn, state, now, ring_at)
    if opening is Opening.BUSY:
        raise ReplayRefused(_busy(bridge, turn))
    if opening is Opening.EXISTS:
        raise ReplayRefused(f"{turn.id} was replayed by somebody else just now")
    # From here on the sweep would bring it to an end, whatever happens to this process.
    bridge.inbox.reopen(turn.id)
    bridge.dead_letters.mark_replayed(turn.id, by, now)
    log.info("turn_replayed", turn_id=turn.id, state=state.value, by=by, trace_id=turn.trace_id)
    turn.state = state
    ring_turn(bridge, turn)
    return _next_step(state)


def look(bridge: Bridge, turn_id: str, *, force: bool = False) -> str:
    """Return what a replay would do. Raises what it would raise."""
    if bridge.event_letters is not None and _letter(bridge, turn_id).is_about_an_event:
        return bridge.event_letters.look(turn_id)
    turn, state = _replayable(bridge, turn_id, force)
    if bridge.turns.open_of(turn.chat_id, turn.lane) is not None:
        raise ReplayRefused(_busy(bridge, turn))
    return _next_step(state)


def discard(bridge: Bridge, letter_id: str, by: str) -> str:
    """Decide that nobody will replay a dead letter. Raises DeadLetterUnknown and ReplayRefused (it waits no more)."""
    letter = look_to_discard(bridge, letter_id)
    if not bridge.dead_letters.mark_discarded(letter.id, by, bridge.clock.now()):
        raise ReplayRefused(f"{letter.id} was replayed or discarded by somebody else just now")
    log.info("dead_letter_discarded", letter_id=letter.id, by=by, trace_id=letter.trace_id)
    return "discarded"


def look_to_discard(bridge: Bridge, letter_id: str) -> DeadLetter:
    """Return a dead letter that may be discarded. Raises what ``discard`` raises."""
    letter = _letter(bridge, letter_id)
    if not letter.waits:
        raise ReplayRefused(f"{letter.id} {_resolution(letter)}; there is nothing left to discard")
    return letter


def one_by_one(
    bridge: Bridge, letter_ids: Sequence[str], act: Callable[[str], str], per_second: float
) -> Iterator[Handled]:
    """Do something with many dead letters, at most ``per_second`` of them; a refused one does not stop the rest."""
    for number, letter_id in enumerate(letter_ids):
        if number and bridge.stopping.wait(1 / per_second):
            return
        try:
            yield Handled(letter_id, act(letter_id))
        except (DeadLetterUnknown, ReplayRefused) as error:
            yield Handled(letter_id, str(error), error)


def _finish_half_done(bridge: Bridge, turn_id: str, by: str) -> None:
    """A replay whose process ended just after it had opened the turn: give the rows back, and note it."""
    turn = bridge.turns.get(turn_id)
    if turn is None or turn.state is TurnState.DEAD:
        return
    bridge.inbox.reopen(turn_id)
    if not turn.open:
        bridge.inbox.close(turn_id, ROWS_AFTER[turn.state], turn.error or "")
    bridge.dead_letters.mark_replayed(turn_id, by, bridge.clock.now())


def _replayable(bridge: Bridge, turn_id: str, force: bool) -> tuple[Turn, TurnState]:
    """Return a turn that may be opened again, and the state in which it would be."""
    letter = _letter(bridge, turn_id)
    if not letter.is_about_a_turn:
        raise ReplayRefused(f"{letter.id} is a doorbell: the sweep rings for what it was about; look, then discard it")
    if letter.discarded_at is not None:
        raise ReplayRefused(f"{letter.id} {_resolution(letter)}; it is not replayed")
    turn = bridge.turns.get(turn_id)
    if turn is None:
        raise ReplayRefused(f"{turn_id}: there is no such turn any more; discard the dead letter")
    if turn.state is not TurnState.DEAD:
        how = "open" if turn.open else "completed"
        raise ReplayRefused(f"{turn_id} was replayed already and is {how} ({turn.state.value})")
    if turn.open:
        raise ReplayRefused(f"{turn_id} is just being given up; try again in a few seconds")
    if not force:
        check_still_answered(bridge, turn)
    return turn, state_of_replay(turn)


def _letter(bridge: Bridge, letter_id: str) -> DeadLetter:
    letter = bridge.dead_letters.get(letter_id)
    if letter is None:
        raise DeadLetterUnknown(f"there is no dead letter {letter_id}; `wechat-bridge dead list` shows those there are")
    return letter


def _busy(bridge: Bridge, turn: Turn) -> str:
    other = bridge.turns.open_of(turn.chat_id, turn.lane)
    name = f"{other.id}, {other.state.value}" if other else "just ended"
    return f"{turn.id}: another turn of this conversation is open ({name}); replay it when that has ended"


def _resolution(letter: DeadLetter) -> str:
    if letter.discarded_at is not None:
        return f"was discarded by {letter.discarded_by} at {letter.discarded_at:%Y-%m-%dT%H:%M:%SZ}"
    return f"was replayed by {letter.replayed_by} at {letter.replayed_at:%Y-%m-%dT%H:%M:%SZ}"


def _next_step(state: TurnState) -> str:
    return "the stored answer is sent" if state is TurnState.GENERATED else "the engine is asked again"
