"""What the sweep and the deliveries ask about held apps."""

from __future__ import annotations

from collections.abc import Callable

from tests.store.big_ledger import BigLedger, channel
from tests.store.hot_queries import Call, Case
from wechat_bridge.model.hold import Hold


def _hold(big: BigLedger) -> Hold:
    return Hold(
        reason="app_held", cause="app_held", error="no", since=big.now, told_at=big.now, probe_at=big.now,
        delay_seconds=60.0,
    )  # fmt: skip


def _held(act: Callable[[BigLedger, str], object]) -> Case:
    """Time ``act`` on a channel whose app is held, the only one."""

    def case(big: BigLedger, name: str) -> Call:
        big.channels.collection.update_many({"hold.since": {"$gt": big.after(-1)}}, {"$set": {"hold": None}})
        big.channels.add(channel(big.now, name, next_poll_at=None, hold=_hold(big)))
        return lambda: act(big, name)

    return case


HOT: dict[str, Case] = {
    "turns.held": _held(lambda big, name: big.turns.held(name)),
    "turns.held_channels": _held(lambda big, name: big.turns.held_channels()),
    "holds.all": _held(lambda big, name: big.holds.all()),
    "holds.begin": _held(lambda big, name: big.holds.begin(name, _hold(big), big.now)),
    "holds.take_probe": _held(lambda big, name: big.holds.take_probe(name, _hold(big), "t", big.after(60), 120.0)),
    "holds.claim_reminder": _held(lambda big, name: big.holds.claim_reminder(name, big.now, big.now)),
    "holds.end": _held(lambda big, name: big.holds.end(name)),
    "holds.forget": _held(lambda big, name: big.holds.forget(name)),
    "holds.pause": _held(lambda big, name: big.holds.pause(name, 0, big.after(60))),
}
