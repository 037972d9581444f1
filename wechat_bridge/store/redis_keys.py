"""Every Redis key of the bridge. Each has a lifetime or an owner.

The broker's own keys carry ``BROKER_PREFIX``; its queues are lists of that prefix and the queue's name.
"""

from __future__ import annotations

BROKER_PREFIX = "bridge:"


def queue(name: str) -> str:
    """Return the list in which the doorbells of a queue wait."""
    return BROKER_PREFIX + name


def poll_lock(share_id: str) -> str:
    """Return the poll lock; value ``owner|generation``; lives for the longest poll and 30 s."""
    return f"poll:lock:{share_id}"


def poll_next(share_id: str) -> str:
    """Return the marker that a doorbell is on its way; value is the owner that rang; lives for its delay and 8 s."""
    return f"poll:next:{share_id}"


def poll_failures(share_id: str) -> str:
    """Return the failure counter; lives for its window."""
    return f"poll:failures:{share_id}"


def spill(share_id: str) -> str:
    """Return the list of messages that could not be stored; lives until drained."""
    return f"spill:{share_id}"


SPILLED = "spill"
"""The set of channels that have a spill; lives until drained."""

DEAD_SPILL = "spill-dead"
"""The hash of dead letters that could not be stored; lives until drained."""
