"""What the gateway asks while events flow: taking, waiting, handing over, sweeping, forgetting."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from tests.gateway.handed_over import event
from tests.store.big_ledger import DEAD_OWNER, LIVING_OWNER, BigLedger
from tests.store.hot_queries import Call, Case
from wechat_bridge.model.event import Event, EventState
from wechat_bridge.store.windows import Window

WINDOW = Window(1.0, 5.0, 20)


def _made(big: BigLedger, name: str, **fields: Any) -> Event:
    return event(id=name, dedup_key=name, received_at=big.now, validated_at=big.now, next_attempt_at=big.now, **fields)


def _stored(act: Callable[[BigLedger, Event], object], **fields: Any) -> Case:
    """Time ``act`` on an event that was just stored."""

    def case(big: BigLedger, name: str) -> Call:
        made = _made(big, name, **fields)
        big.events.add([made], big.now)
        return lambda: act(big, made)

    return case


def _claimed(act: Callable[[BigLedger, Event], object]) -> Case:
    """Time ``act`` on an event that is being handed over."""

    def case(big: BigLedger, name: str) -> Call:
        big.events.add([_made(big, name)], big.now)
        claimed = big.events.claim(name, LIVING_OWNER, big.now, big.after(60), name)
        assert claimed is not None
        return lambda: act(big, claimed)

    return case


def _dead(big: BigLedger, name: str) -> Call:
    big.events.add([_made(big, name)], big.now)
    claimed = big.events.claim(name, LIVING_OWNER, big.now, big.after(60), name)
    assert claimed is not None
    big.events.finish(claimed, EventState.DEAD, {})
    return lambda: big.events.reopen(claimed, name, big.now, big.after(15))


def _add(big: BigLedger, name: str) -> Call:
    return lambda: big.events.add([_made(big, name)], big.now)


def _add_known(big: BigLedger, name: str) -> Call:
    big.events.add([_made(big, name)], big.now)
    return lambda: big.events.add([_made(big, f"{name}-again").model_copy(update={"dedup_key": name})], big.now)


def _batch(big: BigLedger, name: str) -> Event:
    source = _made(big, f"{name}-source", window_key=name, state=EventState.WAITING)
    big.events.add([source], big.now)
    return _made(big, name, sources=(source.id,), lane=name, open=True)


def _open(big: BigLedger, name: str) -> Call:
    batch = _batch(big, name)
    return lambda: big.events.open(batch)


def _take_sources(big: BigLedger, name: str) -> Call:
    batch = _batch(big, name)
    return lambda: big.events.take_sources(batch)


def _window(act: Callable[[BigLedger, str], object]) -> Case:
    """Time ``act`` on a window in which one event waits."""

    def case(big: BigLedger, name: str) -> Call:
        big.event_windows.arm(name, "chat", 1, WINDOW, big.now)
        return lambda: act(big, name)

    return case


def _forced(big: BigLedger, name: str) -> object:
    window = big.event_windows.get(name)
    assert window is not None
    return big.event_windows.force(window, big.now)


def _a_moment_ago(big: BigLedger) -> object:
    return big.events.received_between(big.now - timedelta(seconds=0.01), big.now - timedelta(seconds=0.005))


HOT: dict[str, Case] = {
    "events.add": _add,
    "events.add, known": _add_known,
    "events.get": _stored(lambda big, made: big.events.get(made.id)),
    "events.open": _open,
    "events.open_of": _stored(lambda big, made: big.events.open_of(f"lane-{made.id}")),
    "events.waiting": _stored(lambda big, made: big.events.waiting(f"window-{made.id}")),
    "events.take_sources": _take_sources,
    "events.merged_into": _stored(lambda big, made: big.events.merged_into(made.id)),
    "events.claim": _stored(lambda big, made: big.events.claim(made.id, LIVING_OWNER, big.now, big.after(60), made.id)),
    "events.write": _claimed(lambda big, made: big.events.write(made, {"payload": {}})),
    "events.retry": _claimed(lambda big, made: big.events.retry(made, big.now, big.now, {"error": "x"})),
    "events.finish": _claimed(lambda big, made: big.events.finish(made, EventState.DONE, {})),
    "events.close": _stored(lambda big, made: big.events.close(made.id)),
    "events.skip": _stored(lambda big, made: big.events.skip([made.id], "stopped"), state=EventState.WAITING),
    "events.overdue": lambda big, _: lambda: big.events.overdue(big.after(-3_600), [DEAD_OWNER], 100),
    "events.rang": _stored(lambda big, made: big.events.rang(made, big.after(30))),
    "events.received_between": lambda big, _: lambda: _a_moment_ago(big),
    "event_windows.arm": lambda big, name: lambda: big.event_windows.arm(name, "chat", 1, WINDOW, big.now),
    "event_windows.arm, again": _window(lambda big, name: big.event_windows.arm(name, "chat", 1, WINDOW, big.now)),
    "event_windows.get": _window(lambda big, name: big.event_windows.get(name)),
    "event_windows.is_open": _window(lambda big, name: big.event_windows.is_open(name)),
    "event_windows.close": _window(lambda big, name: big.event_windows.close(name, 1)),
    "event_windows.block": _window(lambda big, name: big.event_windows.block(name, big.after(15))),
    "event_windows.unblock": _window(lambda big, name: big.event_windows.unblock(name, big.now)),
    "event_windows.overdue": lambda big, _: lambda: big.event_windows.overdue(big.after(-3_600), 100),
    "event_windows.rang": _window(lambda big, name: big.event_windows.rang(name, big.after(15))),
    "event_windows.opened_before": lambda big, _: lambda: big.event_windows.opened_before(big.after(-7_200)),
    "event_windows.force": _window(_forced),
}

RARE = {
    "events.release_key",
    "events.unclaim",
    "events.hand_back",
    "events.take_over",
    "events.give_up",
    "events.reopen",
    "events.forget",
    "event_windows.clear_due",
    "event_windows.count",
}
"""When something was given up, a process ends or died, and every few seconds at most."""
