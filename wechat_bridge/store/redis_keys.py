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


def send_slot(share_id: str) -> str:
    """Return the moment of an account's last reserved send; lives a minute beyond it."""
    return f"send:slot:{share_id}"


def login_qr(share_id: str) -> str:
    """Return the QR login of a channel; lives 480 s, and 480 s more when it has ended, so that people can read how."""
    return f"login:qr:{share_id}"


LOGINS = "login:open"
"""The QR logins in progress by when the sweep should ring for them; lives as long as the newest of them."""

RESULT_PREFIX = "result:"
"""Before the results of management tasks, which Celery writes and removes after some minutes."""


def spill(share_id: str) -> str:
    """Return the list of messages that could not be stored; lives until drained."""
    return f"spill:{share_id}"


SPILLED = "spill"
"""The set of channels that have a spill; lives until drained."""

DEAD_SPILL = "spill-dead"
"""The hash of dead letters that could not be stored; lives until drained."""
