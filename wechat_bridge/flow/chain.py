"""The one way in which a link of a poll chain ends."""

from __future__ import annotations

import random
from functools import partial

from wechat_bridge.errors import TransientError
from wechat_bridge.flow.context import Bridge


def chain_next_poll(bridge: Bridge, share_id: str, generation: int, delay_seconds: float | None) -> None:
    """Give the link back and ring the next one after ``delay_seconds``; None ends the chain.

    If ledger or broker refuses, the whole step is tried again by the heartbeat thread until it succeeds. It is
    idempotent, and does nothing once somebody else has taken the channel over.
    """
    step = partial(_chain, bridge, share_id, generation, delay_seconds)
    try:
        step()
    except TransientError:
        bridge.unfinished.add(f"chain {share_id}", step)


def jittered(bridge: Bridge, seconds: float) -> float:
    """Vary a delay, so that channels that were started together do not stay together."""
    share = bridge.settings.poll.jitter
    return seconds * random.uniform(1 - share, 1 + share)


def _chain(bridge: Bridge, share_id: str, generation: int, delay_seconds: float | None) -> None:
    next_poll_at = None if delay_seconds is None else bridge.clock.after(delay_seconds)
    if delay_seconds is not None:
        # Before the ledger says that the channel is free, or the seeder would ring as well.
        bridge.locks.announce(share_id, bridge.owner, delay_seconds)
    still_ours = bridge.channels.finish_link(share_id, generation, next_poll_at)
    bridge.locks.release(share_id, bridge.owner, generation)
    if still_ours and delay_seconds is not None:
        bridge.doorbells.ring_poll(share_id, generation, delay_seconds)
    else:
        bridge.locks.unannounce(share_id, bridge.owner)
