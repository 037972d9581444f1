"""Times that a clock which went back would reach far too late, and times that are none of its business."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from pymongo.database import Database

from tests.store import channel_steps
from tests.store.documents import NOW, WINDOW, arrival, row, turn
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.turn import TurnState
from wechat_bridge.store.channels import ChannelStore
from wechat_bridge.store.conversations import ConversationStore
from wechat_bridge.store.customer_service import CustomerServiceStore
from wechat_bridge.store.due_times import DueTimes
from wechat_bridge.store.inbox import InboxStore
from wechat_bridge.store.ledger import Document
from wechat_bridge.store.turns import TurnStore

LATEST = NOW + timedelta(seconds=60)
FAR = NOW + timedelta(seconds=600)
SOON = NOW + timedelta(seconds=30)


@pytest.fixture
def due_times(database: Database[Document]) -> DueTimes:
    """The store under test."""
    return DueTimes(database)


def test_far_polls_and_probes_are_due_now_and_a_far_pause_ends_soon(
    due_times: DueTimes, channels: ChannelStore, share_id: str
) -> None:
    for name, at in ((share_id, FAR), (f"{share_id}-soon", SOON)):
        channels.add(Channel(id=name, next_poll_at=at, probe_at=at, send_blocked_until=at))
    assert due_times.pull_channels(NOW, LATEST, LATEST) == 1
    far, soon = (channel_steps.stored(channels, name) for name in (share_id, f"{share_id}-soon"))
    assert (far.next_poll_at, far.probe_at, far.send_blocked_until) == (NOW, NOW, LATEST)
    assert (soon.next_poll_at, soon.probe_at, soon.send_blocked_until) == (SOON, SOON, SOON)
    assert due_times.pull_channels(NOW, LATEST, LATEST) == 0


def test_far_conversations_are_due_now(due_times: DueTimes, database: Database[Document], share_id: str) -> None:
    conversations = ConversationStore(database)
    conversations.arm(arrival(share_id), WINDOW, FAR)
    conversations.arm(arrival(f"{share_id}-soon"), WINDOW, NOW)
    assert due_times.pull_conversations(NOW, LATEST) == 1
    found = [conversations.get(name) for name in (share_id, f"{share_id}-soon")]
    assert [each and each.flush_at for each in found] == [NOW, NOW + timedelta(seconds=1)]
    assert [each["_id"] for each in conversations.overdue(NOW, 10)] == [share_id]


@pytest.mark.parametrize(("at", "pulled"), [(FAR, 1), (SOON, 0)])
def test_far_turns_are_due_now_unless_somebody_works_on_them(
    due_times: DueTimes, database: Database[Document], share_id: str, at: datetime, pulled: int
) -> None:
    turns = TurnStore(database)
    idle = turn(share_id, 1, next_attempt_at=at, ring_at=at)
    busy = turn(f"{share_id}-busy", 1, next_attempt_at=NOW)
    turns.open(idle)
    turns.open(busy)
    turns.claim(busy.id, TurnState.QUEUED, TurnState.GENERATING, "me", NOW, FAR)
    assert due_times.pull_turns(NOW, LATEST) == pulled
    found = [turns.get(each.id) for each in (idle, busy)]
    assert [each and each.ring_at for each in found] == [NOW if pulled else at, FAR]


def test_far_accounts_of_customer_service_are_due_now_and_those_of_no_channel_are_not(
    due_times: DueTimes, database: Database[Document], share_id: str
) -> None:
    services = CustomerServiceStore(database)
    for name, at in (("far", FAR), ("last", LATEST), ("gone", FAR)):
        services.add(f"{share_id}:{name}", f"{share_id}-{name}", at)
    services.end(f"{share_id}-gone")
    assert due_times.pull_services(NOW, LATEST) == 1
    found = [services.get(f"{share_id}:{name}") for name in ("far", "last", "gone")]
    assert [each and each.due_at for each in found] == [NOW, LATEST, None]
    assert due_times.pull_services(NOW, LATEST) == 0


def test_rows_that_wait_keep_the_order_of_their_receipt(
    due_times: DueTimes, database: Database[Document], share_id: str
) -> None:
    inbox = InboxStore(database)
    later = FAR + timedelta(seconds=1)
    inbox.add([row(share_id, 1, received_at=FAR), row(share_id, 2, received_at=later), row(share_id, 3)])
    for _ in range(2):
        due_times.pull_rows(LATEST, 600.0)
        found = inbox.collection.find({"share_id": share_id}).sort("_id", 1)
        assert [each["received_at"] for each in found] == [NOW, NOW + timedelta(seconds=1), NOW]
