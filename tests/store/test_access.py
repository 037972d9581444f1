"""What is counted of a person, and what was decided about them, in the ledger."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from pymongo.database import Database

from tests.store.documents import NOW, WINDOW, arrival
from wechat_bridge.model import keys
from wechat_bridge.model.access import AccessRules, Policy, Standing, Told
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.store.access import AccessStore
from wechat_bridge.store.channels import ChannelStore
from wechat_bridge.store.conversations import ConversationStore
from wechat_bridge.store.ledger import Document
from wechat_bridge.store.retention import RetentionStore


@pytest.fixture
def access(database: Database[Document]) -> AccessStore:
    return AccessStore(database)


@pytest.fixture
def conversations(database: Database[Document]) -> ConversationStore:
    return ConversationStore(database)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def arrive(store: ConversationStore, share_id: str, at: float, count: int = 1) -> Conversation:
    """Let messages of ann arrive so many seconds after NOW; return her conversation."""
    chat_id = keys.chat_id(share_id, "ann")
    fields = {"share_id": share_id, "received_at": after(at), "sent_at": after(at), "count": count}
    store.arm(arrival(chat_id, **fields), WINDOW, after(at))
    found = store.get(chat_id)
    assert found is not None
    return found


def test_messages_are_counted_in_windows_that_begin_with_the_first(
    conversations: ConversationStore, share_id: str
) -> None:
    assert arrive(conversations, share_id, 0, count=2).minute_count == 2
    same = arrive(conversations, share_id, 59.9)
    assert (same.minute_from, same.minute_count, same.day_count) == (NOW, 3, 3)
    new = arrive(conversations, share_id, 60)
    assert (new.minute_from, new.minute_count) == (after(60), 1)
    assert (new.day_from, new.day_count) == (NOW, 4)
    tomorrow = arrive(conversations, share_id, 86_400)
    assert (tomorrow.day_from, tomorrow.day_count, tomorrow.minute_count) == (after(86_400), 1, 1)


def test_a_message_that_is_only_made_due_again_is_not_counted_again(
    conversations: ConversationStore, share_id: str
) -> None:
    chat = arrive(conversations, share_id, 0)
    conversations.clear_due(chat.id, chat.rev)
    conversations.ensure_due(arrival(chat.id, share_id=share_id), after(1))
    again = conversations.get(chat.id)
    assert again is not None
    assert (again.minute_count, again.day_count) == (1, 1)


def test_what_is_decided_before_the_first_message_is_there_when_it_comes(
    access: AccessStore, conversations: ConversationStore, share_id: str
) -> None:
    access.decide(share_id, "ann", NOW, standing="listed", by="me")
    chat = arrive(conversations, share_id, 1)
    assert (chat.access.standing, chat.access.by, chat.rev, chat.waiting) == (Standing.LISTED, "me", 1, 1)
    assert [each.user_id for each in access.decided(share_id)] == ["ann"]


def test_a_channel_of_an_older_version_has_the_rules_that_let_everybody_in(
    access: AccessStore, channels: ChannelStore, share_id: str
) -> None:
    channels.add(Channel(id=share_id, owner_user_id="owner"))
    channels.collection.update_one({"_id": share_id}, {"$unset": {"access": ""}})
    gate = access.gate(share_id)
    assert gate is not None
    assert (gate.rules, gate.owner_user_id) == (AccessRules(), "owner")
    assert access.set_rules(share_id, policy="disabled")
    changed = access.gate(share_id)
    assert changed is not None
    assert (changed.rules.policy, changed.rules.messages_per_day) == (Policy.DISABLED, 0)
    assert access.gate("nowhere") is None
    assert not access.set_rules("nowhere", policy="open")


def test_refusing_is_written_only_while_nothing_arrived_and_once(
    access: AccessStore, conversations: ConversationStore, share_id: str
) -> None:
    before = arrive(conversations, share_id, 0, count=3)
    seen = arrive(conversations, share_id, 1)
    told = {"RATE": Told(at=after(1), row_id="row")}
    assert not access.settle(before, 1, told, "", NOW)
    assert access.settle(seen, 1, told, "", NOW)
    assert not access.settle(seen, 1, told, "", NOW)
    now = conversations.get(seen.id)
    assert now is not None
    assert (now.minute_count, now.day_count, now.access.told) == (3, 3, told)


@pytest.mark.parametrize("meanwhile", [{"$inc": {"rev": 1}}, {"$set": {"access.at": NOW}}])
def test_nothing_is_refused_of_what_has_changed_since_it_was_read(
    access: AccessStore, conversations: ConversationStore, share_id: str, meanwhile: Document
) -> None:
    seen = arrive(conversations, share_id, 0)
    conversations.collection.update_one({"_id": seen.id}, meanwhile)
    assert not access.settle(seen, 1, {}, "ABCDEFGH", NOW)
    now = conversations.get(seen.id)
    assert now is not None
    assert (now.minute_count, now.access.code) == (1, "")


def test_a_conversation_of_an_older_version_is_refused_like_any_other(
    access: AccessStore, conversations: ConversationStore, share_id: str
) -> None:
    chat = arrive(conversations, share_id, 0)
    old = dict.fromkeys(("minute_from", "minute_count", "day_from", "day_count", "access"), "")
    conversations.collection.update_one({"_id": chat.id}, {"$unset": old})
    seen = conversations.get(chat.id)
    assert seen is not None
    assert access.settle(seen, 1, {}, "ABCDEFGH", NOW)
    now = conversations.get(chat.id)
    assert now is not None
    assert (now.minute_count, now.access.code) == (0, "ABCDEFGH")


def test_a_human_goes_on_answering_only_while_one_does(
    access: AccessStore, conversations: ConversationStore, share_id: str
) -> None:
    chat = arrive(conversations, share_id, 0)

    def until_after(seconds: float) -> datetime | None:
        access.keep_human(chat.id, after(seconds))
        now = conversations.get(chat.id)
        assert now is not None
        return now.access.human_until

    assert until_after(60) is None
    access.decide(share_id, "ann", NOW, human_until=after(20))
    assert until_after(60) == after(60)
    assert until_after(30) == after(60)


@pytest.mark.parametrize(
    ("decision", "is_kept"), [({"standing": "denied"}, True), ({"muted": True}, True), ({}, False)]
)
def test_what_an_operator_decided_outlives_the_conversation(
    database: Database[Document], access: AccessStore, conversations: ConversationStore, share_id: str,
    decision: dict[str, object], is_kept: bool,
) -> None:  # fmt: skip
    chat = arrive(conversations, share_id, 0)
    conversations.clear_due(chat.id, chat.rev)
    access.decide(share_id, "ann", NOW, **decision)
    RetentionStore(database).remove_conversation(chat.id, chat.rev)
    assert (conversations.get(chat.id) is not None) is is_kept
