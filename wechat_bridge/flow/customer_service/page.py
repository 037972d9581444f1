"""Keep what one page brought, in the order in which it happened.

Order matters: what a customer said to a human is not answered, and what they said after that human had left is. So an
event takes effect between what came before it and what comes after it, once: its own row, which is stored after it has
taken effect and before anything later is, says so when the page is read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from wechat_bridge.channels.wecom.kf_messages import SYSTEM_USER
from wechat_bridge.flow import intake
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.customer_service.events import EFFECTS
from wechat_bridge.model import keys
from wechat_bridge.model.access import Reason
from wechat_bridge.model.channel import DISABLED, Channel
from wechat_bridge.model.command import command_of
from wechat_bridge.model.message import InboundMessage, InboxState
from wechat_bridge.model.wecom_kf import SOURCE, Entry, KfAccount, KfSettings

HISTORY = "history"


@dataclass(frozen=True)
class Reader:
    """The channel whose account is read."""

    channel: Channel
    settings: KfSettings
    account: KfAccount

    @property
    def answers_from(self) -> datetime | None:
        """Before when nothing is answered; the platform counts in whole seconds."""
        since = self.settings.answer_from or self.channel.created_at
        return since.replace(microsecond=0) if since else None


@dataclass
class _Kept:
    """What is still to be stored of a page, and with whom of its customers a human is."""

    messages: list[InboundMessage] = field(default_factory=list)
    with_human: dict[str, bool] = field(default_factory=dict)


def keep_page(bridge: Bridge, reader: Reader, entries: Sequence[Entry]) -> None:
    """Store every entry, let events take effect, and make due what is to be answered. Raises LedgerUnavailable."""
    kept = _Kept()
    for entry in entries:
        if entry.event in EFFECTS:
            _store(bridge, reader, kept)
            _take_effect(bridge, reader, entry)
            kept.with_human.clear()
        kept.messages.append(_judged(bridge, reader, entry.message, kept))
    _store(bridge, reader, kept)
    if any(entry.message.state is InboxState.PENDING for entry in entries):
        bridge.channels.note_message(reader.channel.id, bridge.clock.now())


def _take_effect(bridge: Bridge, reader: Reader, entry: Entry) -> None:
    is_about_somebody = entry.message.user_id != SYSTEM_USER
    if is_about_somebody and bridge.inbox.get(keys.inbox_id(reader.channel.id, entry.message.message_id)) is None:
        EFFECTS[entry.event](bridge, reader.channel, reader.settings, reader.account, entry)


def _store(bridge: Bridge, reader: Reader, kept: _Kept) -> None:
    if kept.messages:
        intake.store_rows(bridge, intake.rows_of(bridge, reader.channel, kept.messages, SOURCE))
    kept.messages.clear()


def _judged(bridge: Bridge, reader: Reader, message: InboundMessage, kept: _Kept) -> InboundMessage:
    """Return a message with the reason for which it is not to be answered, if there is one."""
    reason = _reason(bridge, reader, message, kept) if message.state is InboxState.PENDING else ""
    return message.model_copy(update={"state": InboxState.SKIPPED, "reason": reason}) if reason else message


def _reason(bridge: Bridge, reader: Reader, message: InboundMessage, kept: _Kept) -> str:
    if not reader.channel.enabled:
        return DISABLED
    since = reader.answers_from
    if since is not None and message.sent_at is not None and message.sent_at < since:
        return HISTORY
    is_with_human = _is_with_human(bridge, reader, message.user_id, kept) and command_of(message.items) is None
    return Reason.HUMAN.value if is_with_human else ""


def _is_with_human(bridge: Bridge, reader: Reader, user_id: str, kept: _Kept) -> bool:
    if user_id not in kept.with_human:
        conversation = bridge.conversations.get(keys.chat_id(reader.channel.id, user_id))
        is_so = conversation is not None and conversation.access.is_with_human(bridge.clock.now())
        kept.with_human[user_id] = is_so
    return kept.with_human[user_id]
