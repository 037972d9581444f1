"""Try a given-up event again after repair."""

from __future__ import annotations

import base64

from wechat_bridge.errors import DeadLetterUnknown, ReplayRefused
from wechat_bridge.gateway.context import Gateway
from wechat_bridge.gateway.from_broker import REFUSED_PREFIX
from wechat_bridge.gateway.go_on import ring_dispatch
from wechat_bridge.gateway.incoming import Incoming
from wechat_bridge.gateway.ingest import ingest
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.model.event import Event, EventSource, EventState, Status
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.turns import Opening

log = logger(__name__)


class EventLetters:
    """Tries the given-up events of a gateway again, for whoever knows dead letters by their ids only."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def look(self, letter_id: str) -> str:
        """Return what trying again would do. Raises DeadLetterUnknown and ReplayRefused."""
        return look(self._gateway, letter_id)

    def resubmit(self, letter_id: str, by: str) -> str:
        """Try again; return what happens next. Raises DeadLetterUnknown and ReplayRefused."""
        return resubmit(self._gateway, letter_id, by)


def resubmit(gateway: Gateway, event_id: str, by: str) -> str:
    """Let a dead event be dispatched again, its attempts from the start; return what happens next.

    Raises DeadLetterUnknown, and ReplayRefused when it is open or completed, when its letter was discarded, or when
    the same event came again since and was taken.
    """
    if event_id.startswith(REFUSED_PREFIX):
        return _take_again(gateway, _letter(gateway, event_id), by)
    event = _resubmittable(gateway, event_id)
    now, ring_at = gateway.clock.now(), gateway.clock.after(gateway.ring_again_seconds)
    opening = gateway.events.reopen(event, event.dedup_name or event.id, now, ring_at)
    if opening is Opening.BUSY:
        raise ReplayRefused(f"{event.id}: the same event came again and was taken, or another one of its key is open")
    if opening is Opening.EXISTS:
        raise ReplayRefused(f"{event.id} was resubmitted by somebody else just now")
    gateway.dead_letters.mark_replayed(event.id, by, now)
    log.info("event_resubmitted", event_id=event.id, by=by, trace_id=event.trace_id)
    ring_dispatch(gateway, event.id)
    return "it is dispatched again"


def look(gateway: Gateway, event_id: str) -> str:
    """Return what ``resubmit`` would do. Raises what it would raise, but for what only trying can tell."""
    if event_id.startswith(REFUSED_PREFIX):
        _letter(gateway, event_id)
        return "it is taken again, from the beginning"
    _resubmittable(gateway, event_id)
    return "it is dispatched again"


def _take_again(gateway: Gateway, letter: DeadLetter, by: str) -> str:
    """Take what was refused from the beginning, as it came. Raises ReplayRefused where it is refused again."""
    if letter.replayed_at is not None:
        raise ReplayRefused(f"{letter.id} was resubmitted already")
    [brought] = letter.original
    raw = base64.b64decode(brought["raw"])
    incoming = Incoming(
        EventSource.BROKER, brought["content_type"], raw, brought["headers"], brought.get("event_type", "")
    )
    receipt = ingest(gateway, incoming)
    if receipt.status in (Status.REJECTED, Status.UNAVAILABLE):
        raise ReplayRefused(f"{letter.id}: {receipt.error}")
    gateway.dead_letters.mark_replayed(letter.id, by, gateway.clock.now())
    return f"taken as {receipt.id}"


def _letter(gateway: Gateway, letter_id: str) -> DeadLetter:
    letter = gateway.dead_letters.get(letter_id)
    if letter is None:
        raise DeadLetterUnknown(f"there is no dead letter {letter_id}; `wechat-bridge dead list` shows those there are")
    if letter.discarded_at is not None:
        raise ReplayRefused(f"{letter_id} was discarded by {letter.discarded_by}; it is not tried again")
    return letter


def _resubmittable(gateway: Gateway, event_id: str) -> Event:
    _letter(gateway, event_id)
    event = gateway.events.get(event_id)
    if event is None:
        raise ReplayRefused(f"{event_id}: there is no such event any more; discard the dead letter")
    if event.state is not EventState.DEAD:
        how = "completed" if event.state is EventState.DONE else "open"
        raise ReplayRefused(f"{event_id} was resubmitted already and is {how} ({event.state.value})")
    if event.ring_at is not None:
        raise ReplayRefused(f"{event_id} is just being given up; try again in a few seconds")
    return event
