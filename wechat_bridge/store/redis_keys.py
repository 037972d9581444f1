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


def person_slots(account_id: str, user_id: str) -> str:
    """Return the moments of the last sends to a person from an app, 900 at most; lives an hour beyond the newest.

    WeCom does not tell upper from lower case in the names of members.
    """
    return f"send:person:{account_id}:{user_id.lower()}"


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

SPILL_BYTES = "spill-bytes"
"""The hash of how large the spill of each channel is, and under "" all of them; lives until drained."""

DEAD_SPILL = "spill-dead"
"""The hash of dead letters that could not be stored; lives until drained."""


def engine_breaker(name: str) -> str:
    """Return whether an engine fails, since when, and who tries it; lives a day after its last use."""
    return f"engine:breaker:{name}"


def engine_slots(name: str) -> str:
    """Return who asks an engine that takes only so many at once, each until its lease ends; lives a day after use."""
    return f"engine:slots:{name}"


def engine_waiting(name: str) -> str:
    """Return the turns that wait for an engine, by arrival; bounded, lives a day after its last use."""
    return f"engine:waiting:{name}"


def engine_failed(name: str) -> str:
    """Return the turns on which an engine failed, by when; bounded, lives a day after its last use."""
    return f"engine:failed:{name}"


def wecom_token(corp_id: str, agent_id: str, mark: str) -> str:
    """Return the access token of an app, and who asks for the next; ``mark`` tells secrets apart; lives a day.

    With a new secret begins a new key, so what is known of the old one (a refusal, say) stands in nobody's way.
    """
    return f"wecom:token:{corp_id}:{agent_id}:{mark}"


def wecom_media(corp_id: str, agent_id: str, mark: str) -> str:
    """Return the media id that WeCom gave for a file, which ``mark`` names; lives as long as the id is good."""
    return f"wecom:media:{corp_id}:{agent_id}:{mark}"


CONFIGURATION = "configuration:last-good"
"""The last version of the configuration that was good, for when the ledger cannot be read; the next replaces it."""

EVENT_SPILL = "spill-events"
"""The list of events that could not be stored; lives until drained."""

DEDUP = "dedup"
MESSAGE_ID = "msg:id"
FINGERPRINT = "fingerprint"
"""With these and ``:`` begin the claims of events; the key of an event is its name here. Value ``claim:{token}`` while
it is being stored, for 30 s, then ``done:{event id}`` as long as its type says."""
