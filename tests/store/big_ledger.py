"""A ledger as it looks after a while: nearly everything in it is finished, a little is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import SecretStr
from pymongo import MongoClient

from tests.gateway.handed_over import event
from tests.support.world import KEY
from wechat_bridge.model import keys
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.model.event import EventState
from wechat_bridge.model.media import Media, MediaState
from wechat_bridge.model.message import InboundMessage, InboxRow, InboxState, Item, ItemKind, inbox_row
from wechat_bridge.model.turn import Turn
from wechat_bridge.model.wecom_kf import Service
from wechat_bridge.model.worker import Worker
from wechat_bridge.store import ledger, schema
from wechat_bridge.store.access import AccessStore
from wechat_bridge.store.accounts import AccountStore
from wechat_bridge.store.blobs import ChunkBlobs
from wechat_bridge.store.channels import ChannelStore
from wechat_bridge.store.clock import LedgerClock
from wechat_bridge.store.configuration import ConfigurationStore
from wechat_bridge.store.conversations import ConversationStore
from wechat_bridge.store.customer_service import CustomerServiceStore
from wechat_bridge.store.dead_letters import DeadLetterStore
from wechat_bridge.store.event_versions import EventVersionStore
from wechat_bridge.store.event_windows import EventWindowStore
from wechat_bridge.store.events import EventStore, event_document
from wechat_bridge.store.holds import HoldStore
from wechat_bridge.store.inbox import InboxStore
from wechat_bridge.store.ledger import Document, to_document
from wechat_bridge.store.media import MediaStore
from wechat_bridge.store.retention import RetentionStore
from wechat_bridge.store.turns import TurnStore
from wechat_bridge.store.vault import Vault
from wechat_bridge.store.workers import WorkerStore

LIVE = 20
"""So many documents of a collection are in work, whatever its size."""

BATCH = 1_000
DEAD_OWNER = "host:1:dead"
LIVING_OWNER = "host:2:living"


@dataclass
class BigLedger:
    """The stores of one database, filled."""

    client: MongoClient[Document]
    channels: ChannelStore
    accounts: AccountStore
    holds: HoldStore
    access: AccessStore
    inbox: InboxStore
    conversations: ConversationStore
    turns: TurnStore
    dead_letters: DeadLetterStore
    services: CustomerServiceStore
    workers: WorkerStore
    retention: RetentionStore
    media: MediaStore
    event_versions: EventVersionStore
    events: EventStore
    event_windows: EventWindowStore
    configuration: ConfigurationStore
    now: datetime

    @classmethod
    def build(cls, url: str, size: int) -> BigLedger:
        """Prepare the database of ``url`` and fill each collection with ``size`` documents."""
        client = ledger.connect(url)
        database = ledger.database(client)
        schema.prepare(database)
        stores = cls(
            client,
            ChannelStore(database, Vault([SecretStr(KEY)])),
            AccountStore(database),
            HoldStore(database),
            AccessStore(database),
            InboxStore(database),
            ConversationStore(database),
            TurnStore(database),
            DeadLetterStore(database),
            CustomerServiceStore(database),
            WorkerStore(database),
            RetentionStore(database),
            MediaStore(database, ChunkBlobs(database)),
            EventVersionStore(database),
            EventStore(database),
            EventWindowStore(database),
            ConfigurationStore(database, Vault([SecretStr(KEY)])),
            LedgerClock(client).now(),
        )
        with MongoClient[Document](url) as patient:
            for name, document in FILLINGS.items():
                rows = [document(stores.now, number) for number in range(size)]
                for start in range(0, size, BATCH):
                    patient.get_default_database()[name].insert_many(rows[start : start + BATCH])
        for owner in (DEAD_OWNER, LIVING_OWNER):
            stores.workers.announce(worker(owner, stores.now))
        return stores

    @staticmethod
    def stores() -> dict[str, type]:
        """Return the store classes by the name of their field."""
        return {
            "channels": ChannelStore,
            "accounts": AccountStore,
            "holds": HoldStore,
            "access": AccessStore,
            "inbox": InboxStore,
            "conversations": ConversationStore,
            "turns": TurnStore,
            "dead_letters": DeadLetterStore,
            "services": CustomerServiceStore,
            "workers": WorkerStore,
            "retention": RetentionStore,
            "media": MediaStore,
            "event_versions": EventVersionStore,
            "events": EventStore,
            "event_windows": EventWindowStore,
            "configuration": ConfigurationStore,
        }

    def after(self, seconds: float) -> datetime:
        """Return a time relative to when the ledger was filled."""
        return self.now + timedelta(seconds=seconds)


def worker(owner: str, now: datetime) -> Worker:
    """Return the document of a process."""
    return Worker(id=owner, kind="worker", queues=("poll",), slots=10, seen_at=now, started_at=now, version="0")


def row(now: datetime, name: str, **fields: Any) -> InboxRow:
    """Return a waiting row of a conversation of its own."""
    item = Item(kind=ItemKind.TEXT, text="hello there " * 5)
    message = InboundMessage(message_id=name, user_id=name, items=(item,), raw="{}" * 200)
    return inbox_row(message, "channel", 1, now, "poll").model_copy(update=fields)


def turn(now: datetime, name: str, **fields: Any) -> Turn:
    """Return a queued turn of a conversation of its own, due now."""
    values: dict[str, Any] = {
        "id": keys.turn_id("channel", name),
        "share_id": "channel",
        "chat_id": keys.chat_id("channel", name),
        "user_id": name,
        "message_ids": (keys.inbox_id("channel", name),),
        "next_attempt_at": now,
        "ring_at": now,
        "trace_id": keys.new_trace_id(),
    }
    return Turn(**(values | fields))


def letter(now: datetime, name: str, **fields: Any) -> DeadLetter:
    """Return a dead letter that nobody has looked at."""
    values: dict[str, Any] = {
        "id": keys.turn_id("channel", name), "share_id": "channel", "chat_id": name, "stage": "reply",
        "error_class": "EngineRefused", "error": "no", "traceback": "line\n" * 20, "attempts": 4, "original": [],
        "trace_id": "", "first_failure_at": now, "last_failure_at": now,
    }  # fmt: skip
    return DeadLetter(**(values | fields))


def channel(now: datetime, name: str, **fields: Any) -> Channel:
    """Return an online channel that nobody polls and that is due now."""
    values: dict[str, Any] = {"id": name, "status": "online", "status_reason": "", "sealed_account": "sealed"}
    return Channel(**(values | {"next_poll_at": now, "created_at": now, "epoch": 1} | fields))


def picture(now: datetime, name: str, **fields: Any) -> Media:
    """Return a picture that a message of its own brought."""
    values: dict[str, Any] = {
        "id": f"in:channel:{name}:0", "turn_id": keys.turn_id("channel", name), "file_id": keys.new_file_name(),
        "kind": ItemKind.IMAGE, "at": now, "state": MediaState.STORED,
    }  # fmt: skip
    return Media(**(values | fields))


def _channel(now: datetime, number: int) -> Document:
    if number >= LIVE:
        offline = channel(now, f"channel-{number}", status="offline", next_poll_at=None, owner_user_id=f"user-{number}")
        return to_document(offline)
    owner = (None, LIVING_OWNER, DEAD_OWNER)[number % 3]
    deadline = now + timedelta(hours=1) if owner else None
    due = None if owner else now - timedelta(seconds=1)
    return to_document(channel(now, f"channel-{number}", poll_owner=owner, link_deadline=deadline, next_poll_at=due))


def _row(now: datetime, number: int) -> Document:
    if number < LIVE:
        return to_document(row(now, f"live-{number}"))
    name = f"done-{number}"
    return to_document(row(now, name, state=InboxState.DONE, turn_id=keys.turn_id("channel", name)))


def _conversation(now: datetime, number: int) -> Document:
    due = now if number < LIVE else None
    name = f"live-{number}" if number < LIVE else f"done-{number}"
    chat = Conversation(id=keys.chat_id("channel", name), share_id="channel", user_id=name, flush_at=due, ring_at=due)
    return to_document(chat)


def _turn(now: datetime, number: int) -> Document:
    if number >= LIVE:
        return to_document(turn(now, f"done-{number}", state="sent", open=False, ring_at=None, answer="yes " * 50))
    if number % 4 == 0:
        return to_document(turn(now, f"live-{number}", state="parked", ring_at=None, park_reason="login_needed"))
    if number % 4 == 1:
        return to_document(turn(now, f"live-{number}", state="generating", owner=DEAD_OWNER, lease_until=now))
    return to_document(turn(now, f"live-{number}"))


def _letter(now: datetime, number: int) -> Document:
    return to_document(letter(now, f"letter-{number}", replayed_at=None if number < LIVE else now))


def _picture(now: datetime, number: int) -> Document:
    return to_document(picture(now, f"{'live' if number < LIVE else 'done'}-{number}"))


def _service(now: datetime, number: int) -> Document:
    due = now if number < LIVE else now + timedelta(minutes=5)
    return to_document(Service(id=f"corp:wk{number}", share_id=f"channel-{number}", due_at=due))


def _event(now: datetime, number: int) -> Document:
    """Most have ended; as many as live conversations wait for a retry."""
    state = EventState.QUEUED if number < LIVE else EventState.DONE
    name = f"evt-{number}"
    ring_at = now + timedelta(hours=1) if number < LIVE else None
    received_at, key = now - timedelta(minutes=30), f"window-of-{number}"
    made = event(id=name, dedup_key=name, received_at=received_at, state=state, ring_at=ring_at, window_key=key)
    return event_document(made)


def _event_window(now: datetime, number: int) -> Document:
    due = now + timedelta(hours=1)
    return {"_id": f"window-of-{number}", "event_type": "chat", "opened_at": now, "rev": 1, "waiting": 1,
            "flush_at": due, "flush_deadline": due, "ring_at": due, "rings": 0, "blocked": False}  # fmt: skip


FILLINGS: dict[str, Callable[[datetime, int], Document]] = {
    "channels": _channel,
    "inbox": _row,
    "conversations": _conversation,
    "processed_messages": _turn,
    "dead_letters": _letter,
    "customer_service": _service,
    "media": _picture,
    "events": _event,
    "event_windows": _event_window,
    "event_versions": lambda now, number: {"_id": f"order:{number}", "version": "1", "at": now},
    "media.chunks": lambda now, number: {"_id": number, "files_id": f"file-{number}", "n": 0, "data": b"x"},
}
