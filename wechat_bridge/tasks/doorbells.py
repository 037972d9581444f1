"""Rings tasks by name through Celery."""

from __future__ import annotations

import json
from typing import Any, cast

from celery import Celery
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient, broker_call

LONGEST_COUNTDOWN_SECONDS = 60.0
"""A longer wait stands in the ledger only, and the sweep rings: a countdown waits in the memory of one worker."""

EXPIRES_AFTER_SECONDS = 600.0
"""A doorbell nobody answered for so long has been replaced by the sweep's."""

SEED_EXPIRES_AFTER_SECONDS = 2.0


class CeleryDoorbells:
    """Publishes tasks; every method raises BrokerUnavailable when Redis cannot be used."""

    def __init__(self, app: Celery, client: RedisClient) -> None:
        self._app = app
        self._client = client

    def ring_poll(self, share_id: str, generation: int, delay_seconds: float = 0) -> None:
        """Ask for the link after ``generation``. It does not expire: there is at most one for a channel."""
        self._send("poll_channel", [share_id, generation], delay_seconds, f"poll:{share_id}:{generation}", None)

    def ring_flush(self, chat_id: str, delay_seconds: float = 0) -> None:
        """Ask that the waiting messages of a conversation become a turn."""
        self._send("flush_conversation", [chat_id], delay_seconds)

    def ring_reply(self, turn_id: str, delay_seconds: float = 0) -> None:
        """Ask for the answer of a turn; the turn id is the task id."""
        self._send("generate_reply", [turn_id], delay_seconds, turn_id)

    def ring_deliver(self, turn_id: str, delay_seconds: float = 0) -> None:
        """Ask that the answer of a turn is sent."""
        self._send("deliver_reply", [turn_id], delay_seconds, f"deliver:{turn_id}")

    def ring_dead_letter(self, turn_id: str) -> None:
        """Ask that a turn that was given up is recorded."""
        self._send("record_dead_letter", [turn_id], 0, f"dead:{turn_id}")

    def ring_login(self, share_id: str, login_id: str, step: int, delay_seconds: float = 0) -> None:
        """Ask for a step of a QR login."""
        self._send("follow_login", [share_id, login_id, step], delay_seconds, f"login:{login_id}:{step}")

    def ring_pull(self, share_id: str) -> None:
        """Ask that the customer service account of a channel is read."""
        self._send("pull_customer_service", [share_id], 0, f"pull:{share_id}")

    def ring_window(self, key: str, delay_seconds: float = 0) -> None:
        """Ask that the events that wait under a key go on."""
        self._send("flush_window", [key], delay_seconds)

    def ring_dispatch(self, event_id: str, delay_seconds: float = 0) -> None:
        """Ask that an event is handed over; the event's id is the task id."""
        self._send("dispatch_event", [event_id], delay_seconds, event_id)

    def ring_dead_event(self, event_id: str) -> None:
        """Ask that an event that was given up is recorded."""
        self._send("record_dead_event", [event_id], 0, f"dead:{event_id}")

    def ring_seed(self, delay_seconds: float) -> None:
        """Ask for a pass of the seeder. It expires soon: beat rings every 2 s anyway."""
        self._send("seed_poll_chains", [], delay_seconds, None, SEED_EXPIRES_AFTER_SECONDS)

    @broker_call
    def waiting(self, queue: str) -> int:
        """Return how many doorbells wait in a queue."""
        return int(self._client.llen(redis_keys.queue(queue)))

    @broker_call
    def waiting_polls(self, most: int) -> set[str] | None:
        """Return the channels whose poll doorbell waits in the queue; None when more than ``most`` wait."""
        key = redis_keys.queue("poll")
        if int(self._client.llen(key)) > most:
            return None
        return {_share_id(message) for message in cast("list[str]", self._client.lrange(key, 0, most))}

    def _send(
        self, name: str, args: list[Any], delay_seconds: float, task_id: str | None = None,
        expires_seconds: float | None = EXPIRES_AFTER_SECONDS,
    ) -> None:  # fmt: skip
        if delay_seconds > LONGEST_COUNTDOWN_SECONDS:
            return
        expires = None if expires_seconds is None else expires_seconds + delay_seconds
        countdown = delay_seconds if delay_seconds > 0 else None
        try:
            self._app.send_task(
                f"wechat_bridge.{name}", args, task_id=task_id, countdown=countdown, expires=expires, ignore_result=True
            )
        except (OperationalError, RedisError, OSError, AttributeError) as error:
            # AttributeError: kombu 5.7, refused by an old primary, connects anew but publishes on the channel it left.
            raise BrokerUnavailable(f"Redis: {type(error).__name__} while ringing {name}") from error


def _share_id(message: str) -> str:
    """Return the channel of a poll doorbell from its task id, ``poll:{share_id}:{generation}``, else nothing."""
    try:
        return str(json.loads(message)["headers"]["id"]).split(":")[1]
    except (ValueError, TypeError, LookupError):
        return ""
