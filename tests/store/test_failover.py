"""A failover of MongoDB in the middle of any write that matters (report 53).

Whatever happens to the write, trying again as the flow does leaves what one undisturbed write would have left: nothing
lost, nothing doubled, and never an error that the flow does not know.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr
from pymongo.database import Database

from tests.store import channel_steps
from tests.store.documents import NOW, WINDOW, arrival, row, turn
from tests.support.mongo_servers import NOT_WRITABLE_PRIMARY, FailPointServer
from tests.support.proxy.mongo_faults import MongoProxy
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.model.message import InboxState
from wechat_bridge.model.turn import TurnState
from wechat_bridge.store import ledger, schema
from wechat_bridge.store.channels import ChannelStore
from wechat_bridge.store.conversations import ConversationStore
from wechat_bridge.store.dead_letters import DeadLetterStore
from wechat_bridge.store.inbox import InboxStore
from wechat_bridge.store.ledger import Document
from wechat_bridge.store.turns import Opening, TurnStore
from wechat_bridge.store.vault import Vault

TRIES = 5
DEADLINE_SECONDS = 10.0
LATER = NOW + timedelta(seconds=60)
_numbers = count(1)


class Stores:
    """The stores of one process, reached through the proxy."""

    def __init__(self, database: Database[Document]) -> None:
        self.inbox = InboxStore(database)
        self.conversations = ConversationStore(database)
        self.turns = TurnStore(database)
        self.dead_letters = DeadLetterStore(database)
        self.channels = ChannelStore(database, Vault([SecretStr(Fernet.generate_key().decode())]))


@dataclass(frozen=True)
class Write:
    """A write, prepared: how it is done, which collection it writes, and whether what it left is right."""

    collection: str
    act: Callable[[], Any]
    is_right: Callable[[], bool]


def add_to_inbox(stores: Stores, name: str) -> Write:
    """Three messages of one answer."""
    rows = [row(name, number) for number in range(3)]
    found = stores.inbox.collection
    return Write(
        "inbox", lambda: stores.inbox.add(rows), lambda: found.count_documents({"_id": {"$regex": f"^{name}:"}}) == 3
    )


def open_turn(stores: Stores, name: str) -> Write:
    """The first turn of a conversation: open, whether we were told so or that it exists."""
    opened = turn(name, 1)

    def act() -> None:
        assert stores.turns.open(opened) in {Opening.OPENED, Opening.EXISTS}

    return Write("processed_messages", act, lambda: stores.turns.open_of(opened.chat_id) == opened)


def arm_conversation(stores: Stores, name: str) -> Write:
    """The first message of a new person: due at the end of its window, with its whole budget."""

    def is_right() -> bool:
        found = stores.conversations.get(name)
        return found is not None and (found.flush_at, found.sends_left) == (NOW + timedelta(seconds=1), 10)

    return Write("conversations", lambda: stores.conversations.arm(arrival(name), WINDOW, NOW), is_right)


def claim_turn(stores: Stores, name: str) -> Write:
    """A claim that is ours whether we were told so or not, its attempt counted once."""
    opened = turn(name, 1)
    stores.turns.open(opened)

    def act() -> None:
        stores.turns.claim(opened.id, TurnState.QUEUED, TurnState.GENERATING, "me", NOW, LATER, "claim")

    def is_right() -> bool:
        found = stores.turns.get(opened.id)
        assert found is not None
        return (found.state, found.owner, found.claim, found.fence, found.generate_attempts) == (
            TurnState.GENERATING, "me", "claim", 1, 1)  # fmt: skip

    return Write("processed_messages", act, is_right)


def claim_rows(stores: Stores, name: str) -> Write:
    """The rows of a turn carry its id."""
    rows = [row(name, number) for number in range(3)]
    stores.inbox.add(rows)

    def is_right() -> bool:
        return [each.state for each in stores.inbox.of_turn(name)] == [InboxState.IN_TURN] * 3

    return Write("inbox", lambda: stores.inbox.claim([each.id for each in rows], name), is_right)


def store_answer(stores: Stores, name: str) -> Write:
    """An answer that follows from a claim."""
    opened = turn(name, 1)
    stores.turns.open(opened)
    claimed = stores.turns.claim(opened.id, TurnState.QUEUED, TurnState.GENERATING, "me", NOW, LATER)
    assert claimed is not None

    def is_right() -> bool:
        found = stores.turns.get(opened.id)
        return found is not None and (found.state, found.answer, found.owner) == (TurnState.GENERATED, "yes", None)

    return Write(
        "processed_messages",
        lambda: stores.turns.release(claimed, TurnState.GENERATED, NOW, NOW, answer="yes"),
        is_right,
    )


def take_link(stores: Stores, name: str) -> Write:
    """A link that is ours whether we were told so or not; the generation counts it once."""
    channel = channel_steps.online(stores.channels, name)

    def act() -> None:
        stores.channels.take_link(name, channel.generation, "me", NOW, LATER, "claim")

    def is_right() -> bool:
        found = channel_steps.stored(stores.channels, name)
        return (found.poll_owner, found.poll_claim, found.generation) == ("me", "claim", channel.generation + 1)

    return Write("channels", act, is_right)


def record_poll(stores: Stores, name: str) -> Write:
    """The cursor moves, and the link goes on."""
    link = channel_steps.taken(stores.channels, name)

    def act() -> None:
        assert stores.channels.record_poll(link, {"sync_buf": "B1"})

    return Write("channels", act, lambda: channel_steps.stored(stores.channels, name).sync_buf == "B1")


def finish_link(stores: Stores, name: str) -> Write:
    """The link is given back, and the next one is due."""
    link = channel_steps.taken(stores.channels, name)

    def is_right() -> bool:
        found = channel_steps.stored(stores.channels, name)
        return (found.poll_owner, found.next_poll_at, found.generation) == (None, LATER, link.generation)

    return Write("channels", lambda: stores.channels.finish_link(name, link.generation, LATER), is_right)


WRITES = [
    add_to_inbox, open_turn, arm_conversation, claim_turn, claim_rows, store_answer, take_link, record_poll, finish_link
]  # fmt: skip


class Stage:
    """A server with fail points, and the way to it that can break."""

    def __init__(self, server: FailPointServer, proxy: MongoProxy, stores: dict[bool, Stores]) -> None:
        self.server = server
        self.proxy = proxy
        self.stores = stores


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Stores with and without the driver's own retries."""
    with (
        FailPointServer(tmp_path_factory.mktemp("failover") / "data") as server,
        MongoProxy(server.port) as proxy,
        ledger.connect(proxy.url("failover", retry_writes=False)) as plain,
        ledger.connect(proxy.url("failover", retry_writes=True)) as retrying,
    ):
        schema.prepare(ledger.database(plain))
        stores = {False: Stores(ledger.database(plain)), True: Stores(ledger.database(retrying))}
        yield Stage(server, proxy, stores)
        server.heal()


def step_down(stage: Stage, write: Write, times: int) -> None:
    """The primary steps down before the write."""
    stage.server.fail(["insert", "update"], times, errorCode=NOT_WRITABLE_PRIMARY)


def break_before(stage: Stage, write: Write, times: int) -> None:
    """The connection breaks before the write is done."""
    stage.server.fail(["insert", "update"], times, closeConnection=True)


def break_after(stage: Stage, write: Write, times: int) -> None:
    """The connection breaks after the write was done: the next try meets its own work."""
    stage.proxy.faults.leave_unanswered(write.collection, times)


def until_done(act: Callable[[], Any]) -> int:
    """Try as the flow does, until the ledger takes it; return how often it was unavailable."""
    started = time.monotonic()
    for refusals in range(TRIES):
        try:
            act()
        except LedgerUnavailable:
            continue
        assert time.monotonic() - started < DEADLINE_SECONDS
        return refusals
    raise AssertionError(f"not within {TRIES} tries")


@pytest.mark.parametrize(
    "retry_writes", [pytest.param(False, id="plain"), pytest.param(True, id="retrying-driver", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("prepare", WRITES)
def test_a_write_that_was_done_without_an_answer_is_done_once(
    stage: Stage,
    prepare: Callable[[Stores, str], Write],
    retry_writes: bool,
) -> None:
    write = prepare(stage.stores[retry_writes], f"shop-{next(_numbers)}")
    assert not write.is_right(), "nothing is done yet"
    break_after(stage, write, 2 if retry_writes else 1)  # the driver's one retry is not to hide it
    until_done(write.act)
    assert write.is_right()


@pytest.mark.parametrize("fault", [step_down, break_before, break_after])
def test_however_the_primary_goes_away_the_ledger_is_unavailable_and_takes_the_write_later(
    stage: Stage, fault: Callable[[Stage, Write, int], None]
) -> None:
    write = record_poll(stage.stores[False], f"shop-{next(_numbers)}")
    fault(stage, write, 1)
    with pytest.raises(LedgerUnavailable, match=r"MongoDB: (AutoReconnect|NotPrimaryError)"):
        write.act()
    until_done(write.act)
    assert write.is_right()


def test_a_turn_whose_insert_was_not_answered_is_known_as_ours(stage: Stage) -> None:
    """The retry meets its own row: that is success, and nobody waits behind a turn that is one's own."""
    stores = stage.stores[False]
    opened = turn(f"shop-{next(_numbers)}", 1)
    stage.proxy.faults.leave_unanswered("processed_messages")
    assert stores.turns.open(opened) is Opening.OPENED
    assert stores.turns.open_of(opened.chat_id) == opened
