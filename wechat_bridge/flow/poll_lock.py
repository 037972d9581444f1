"""Take and release the lock under which one process at a time reads a channel, whatever Redis fails to answer."""

from __future__ import annotations

from functools import partial

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.flow.context import Bridge


def take_lock(bridge: Bridge, share_id: str, generation: int) -> bool:
    """Take the lock; False when it is held. Raises BrokerUnavailable: it may be ours then, and is released later."""
    try:
        return bridge.locks.take(share_id, bridge.owner, generation)
    except BrokerUnavailable:
        bridge.unfinished.add(f"lock {share_id}", partial(let_go, bridge, share_id, generation))
        raise


def let_go(bridge: Bridge, share_id: str, generation: int) -> None:
    """Release the lock. Raises BrokerUnavailable, and does it later: it would keep everybody away for its lifetime."""
    try:
        bridge.locks.release(share_id, bridge.owner, generation)
    except BrokerUnavailable:
        bridge.unfinished.add(f"lock {share_id}", partial(let_go, bridge, share_id, generation))
        raise
