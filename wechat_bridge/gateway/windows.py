"""Let what waits under one key go on as one event, when its window is due."""

from __future__ import annotations

from collections.abc import Sequence

from wechat_bridge.gateway.context import Gateway
from wechat_bridge.gateway.go_on import ring_dispatch, ring_window, rule_of
from wechat_bridge.gateway.stages import said
from wechat_bridge.model.event import Event, EventState, EventWindow
from wechat_bridge.model.event_rules import WindowRule
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.event_reads import MOST_READ
from wechat_bridge.store.turns import Opening
from wechat_bridge.store.windows import BLOCKED_SECONDS, EARLY_SECONDS, RECHECK_SECONDS

log = logger(__name__)

STOPPED = "stopped by its sender"


def flush_window(gateway: Gateway, key: str) -> None:
    """Let what waits go on if it is due; ring again for later if it is not."""
    window = gateway.windows.get(key)
    if window is None or window.flush_at is None:
        return
    early = (window.flush_at - gateway.clock.now()).total_seconds()
    if early > EARLY_SECONDS:
        ring_window(gateway, key, early)
        return
    rule = rule_of(gateway.rules(), window.event_type)
    read = gateway.events.waiting(key, MOST_READ)
    waiting = _without_stopped(gateway, rule, read)
    going = next_ones(rule, waiting)
    if going:
        _open(gateway, window, going, are_left=len(going) < len(waiting) or len(read) >= MOST_READ)
    elif not gateway.windows.close(key, window.rev):
        ring_window(gateway, key, RECHECK_SECONDS)


def next_ones(rule: WindowRule, waiting: Sequence[Event]) -> list[Event]:
    """Return which of those that wait go on together: those before one that waits for nobody, or that one alone."""
    if not waiting or waiting[0].at_once:
        return list(waiting[:1])
    urgent = next((place for place, event in enumerate(waiting) if event.at_once), len(waiting))
    most = len(waiting) if rule.mode == "throttle" else rule.most_items
    return list(waiting[: min(urgent, most)])


def unblock(gateway: Gateway, lane: str) -> None:
    """What was open in a lane has ended: what waited behind it is due."""
    if gateway.windows.unblock(lane, gateway.clock.now()):
        ring_window(gateway, lane)


def _without_stopped(gateway: Gateway, rule: WindowRule, waiting: list[Event]) -> list[Event]:
    """A stop word cancels what waits before it, where the rule says so; what waits under other keys it leaves alone."""
    if rule.on_stop != "cancel":
        return waiting
    stops = [place for place, event in enumerate(waiting) if is_stop_word(rule, event.payload)]
    if not stops:
        return waiting
    gateway.events.skip([event.id for event in waiting[: stops[-1]]], STOPPED)
    return waiting[stops[-1] :]


def is_stop_word(rule: WindowRule, payload: dict[str, object]) -> bool:
    """Whether a payload is nothing but a stop word."""
    text = payload.get("text")
    return isinstance(text, str) and text.strip().casefold() in {word.casefold() for word in rule.stop_words}


def _open(gateway: Gateway, window: EventWindow, going: list[Event], *, are_left: bool) -> None:
    batch = _batch(gateway, window, going)
    if gateway.events.open(batch) is not Opening.OPENED:
        _wait_behind(gateway, window.id)
        return
    said(batch, "debounce", "flushed", sources=len(going), window=window.id)
    if are_left or not gateway.windows.close(window.id, window.rev):
        gateway.windows.block(window.id, gateway.clock.after(BLOCKED_SECONDS))
    ring_dispatch(gateway, batch.id)


def _wait_behind(gateway: Gateway, key: str) -> None:
    """Something else is open: its end makes what waits due. It may just have ended, so look once more."""
    gateway.windows.block(key, gateway.clock.after(BLOCKED_SECONDS))
    if gateway.events.open_of(key) is None and gateway.windows.unblock(key, gateway.clock.now()):
        ring_window(gateway, key, RECHECK_SECONDS)


def _batch(gateway: Gateway, window: EventWindow, going: Sequence[Event]) -> Event:
    """Return what the events become; they are merged when it is dispatched, from those that it then owns."""
    last, now = going[-1], gateway.clock.now()
    return last.model_copy(
        update={
            "id": f"batch-{last.id}",
            "raw_payload": b"",
            "payload": {},
            "dedup_name": "",
            "dedup_key": f"batch-{last.id}",
            "dedup_until": None,
            "window_key": None,
            "lane": window.id,
            "open": True,
            "sources": tuple(event.id for event in going),
            "state": EventState.QUEUED,
            "next_attempt_at": now,
            "ring_at": gateway.clock.after(gateway.ring_again_seconds),
            "times": {EventState.QUEUED.value: now},
        }
    )
