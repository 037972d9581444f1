"""Send one chunk of a claimed turn: budget, pacing, the mark, the send, and what a refusal means."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from wechat_bridge.channels.base import MediaDoor, SendingDoor, Uploaded
from wechat_bridge.errors import (
    AppHeld,
    BridgeError,
    ContentRefused,
    OwnerStale,
    PlatformBusy,
    QuotaUsedUp,
    RecipientRefused,
    RefusedError,
    SendBudgetExhausted,
    SendRefused,
    SessionExpired,
)
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.login.session import session_ended
from wechat_bridge.flow.media.files import upload
from wechat_bridge.flow.pace import SHORT_WAIT_SECONDS, NotYet, wait_for_slot
from wechat_bridge.flow.wecom.held import begin_hold, end_hold
from wechat_bridge.model import ladder
from wechat_bridge.model.channel import Account, Channel
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.model.ladder import Step
from wechat_bridge.model.platform import platform_of
from wechat_bridge.model.turn import Chunk, ChunkState, Turn
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.clock import boot_seconds
from wechat_bridge.store.pacing import Slot

log = logger(__name__)

LEASE_SECONDS = 60.0
"""Longer than one send with its timeouts; written anew with each chunk."""

NEW_TOKEN_TRIES = 3
QUICK_TRIES = 3
QUICK_SECONDS = 2.0
"""Shorter than anybody needs to take over from a process that does not move."""


@dataclass(frozen=True)
class Sender:
    """The channel, its doors and its login, for one delivery."""

    channel: Channel
    door: SendingDoor
    media_door: MediaDoor | None
    account: Account


class ClaimLost(Exception):
    """Somebody else has claimed the turn; there is nothing left to do here."""


def send_chunk(bridge: Bridge, turn: Turn, sender: Sender, number: int) -> None:
    """Send one chunk. Its outcome is unknown from the write before the send to the caller's write after it.

    Raises ClaimLost, NotYet, and what the door raises.
    """
    chunk = turn.chunks[number]
    uploaded = _upload(bridge, turn, sender, chunk) if chunk.media_id else None
    slot = wait_for_slot(bridge, sender.channel, turn.user_id)
    context_token = _take_send(bridge, turn, sender.channel, chunk)
    bridge.alive.check()
    _mark_sending(bridge, turn, number)
    try:
        message_id = _hand_over(bridge, turn, sender, chunk, uploaded, context_token, slot)
    except (RefusedError, PlatformBusy) as error:
        refused = {"state": ChunkState.WAITING, "refusals": chunk.refusals + 1}
        write_chunk(bridge, turn, number, chunk.model_copy(update=refused))
        note_refusal(bridge, sender.channel, error)
        raise
    except (RecipientRefused, ContentRefused):
        end_hold(bridge, sender.channel)  # an app that is held is told so, whoever the person is
        raise
    _note_accepted(bridge, sender.channel)
    accepted = {"state": ChunkState.ACCEPTED, "message_id": message_id, "at": bridge.clock.now()}
    turn.chunks[number] = chunk.model_copy(update=accepted)  # known from here on, whether it can be written or not
    bridge.send_ids.note(turn.share_id, message_id)


def _note_accepted(bridge: Bridge, channel: Channel) -> None:
    if channel.send_refusals:
        bridge.channels.note_accepted(channel.id)
    end_hold(bridge, channel)


def write_chunk(bridge: Bridge, turn: Turn, number: int, chunk: Chunk) -> None:
    """Write a chunk, with a lease that lasts for the next one. Raises ClaimLost.

    One that was accepted shows that this turn kills nobody and is not refused: its attempts count anew, from this one.
    """
    changes: dict[str, Any] = dict(_lease(bridge, LEASE_SECONDS))
    if chunk.state is ChunkState.ACCEPTED:
        changes["deliver_attempts"] = turn.deliver_attempts = 1
    if not bridge.turns.write_chunk(turn, number, chunk, changes):
        raise ClaimLost
    turn.chunks[number] = chunk


def _hand_over(
    bridge: Bridge, turn: Turn, sender: Sender, chunk: Chunk, uploaded: Uploaded | None, token: str, slot: Slot
) -> str | None:
    try:
        return _send(sender, turn.user_id, chunk, uploaded, token)
    except SendRefused as error:
        step = ladder.next_step(chunk.refusals, slot.since_last_seconds)
        log.warning("send_refused", turn_id=turn.id, code=error.code, errmsg=error.errmsg, step=step.value,
                    trace_id=turn.trace_id)  # fmt: skip
        other = _other_token(bridge, turn, sender.channel, token) if step is Step.OTHER_TOKEN else None
        if other is None:
            raise _meaning(bridge, sender.channel, step, error) from error
    try:
        return _send(sender, turn.user_id, chunk, uploaded, other)
    except SendRefused as error:
        raise _meaning(bridge, sender.channel, Step.STOP, error) from error


def _send(sender: Sender, user_id: str, chunk: Chunk, uploaded: Uploaded | None, context_token: str) -> str | None:
    if uploaded is not None and sender.media_door is not None:
        return sender.media_door.send(sender.account, user_id, uploaded, chunk.client_id, context_token)
    return sender.door.send_text(sender.account, user_id, chunk.text, chunk.client_id, context_token)


def _other_token(bridge: Bridge, turn: Turn, channel: Channel, used: str) -> str | None:
    """Return the newest context token if it is another one, else none at all; None when that was tried already."""
    conversation = bridge.conversations.get(turn.chat_id)
    newest = _token(conversation, channel) if conversation else ""
    if newest != used:
        return newest
    return "" if used else None


def _meaning(bridge: Bridge, channel: Channel, step: Step, error: SendRefused) -> BridgeError:
    """Return what a refusal means for this turn; the whole account is to be quiet for a while."""
    seconds = ladder.pause_seconds(step, channel.send_refusals)
    if step is Step.PAUSE:
        return PlatformBusy(f"{error}; the account pauses {seconds:.0f} s, then it is tried once more", seconds)
    bridge.channels.block_sends(channel.id, channel.epoch, bridge.clock.after(seconds))
    return error


def _upload(bridge: Bridge, turn: Turn, sender: Sender, chunk: Chunk) -> Uploaded:
    """Upload the file of a chunk, under a lease that lasts. What fails here was not sent: nobody has seen anything."""
    if not bridge.turns.write(turn, _lease(bridge, LEASE_SECONDS + bridge.settings.media.upload_seconds)):
        raise ClaimLost
    bridge.alive.check()
    try:
        return upload(bridge, turn, sender.media_door, sender.account, chunk)
    except (RefusedError, PlatformBusy) as error:
        note_refusal(bridge, sender.channel, error)
        raise


def _lease(bridge: Bridge, seconds: float) -> dict[str, datetime]:
    until = bridge.clock.after(seconds)
    return {"lease_until": until, "ring_at": until}


def _mark_sending(bridge: Bridge, turn: Turn, number: int) -> None:
    """Write that a chunk is about to be sent. Raises ClaimLost when somebody else has claimed the turn.

    An answer that took long may be from before this process was frozen: only a quick one says that the claim is ours.
    """
    sending = turn.chunks[number].model_copy(update={"state": ChunkState.SENDING})
    for _ in range(QUICK_TRIES):
        began = boot_seconds()
        write_chunk(bridge, turn, number, sending)
        if boot_seconds() - began < QUICK_SECONDS:
            return
    raise OwnerStale


def _take_send(bridge: Bridge, turn: Turn, channel: Channel, chunk: Chunk) -> str:
    """Take one from the send budget; return the newest context token of this login.

    A chunk whose outcome is unknown has taken its share already. Where people can be written to at any time, there is
    neither budget nor token.
    """
    if not platform_of(channel).is_answering:
        return ""
    for _ in range(NEW_TOKEN_TRIES):
        conversation = bridge.conversations.get(turn.chat_id)
        if conversation is None:
            break
        turn.seen_rev = conversation.rev
        if _is_over(bridge, channel, conversation):
            break
        if chunk.state is ChunkState.SENDING or bridge.conversations.take_send(
            turn.chat_id, conversation.context_token
        ):
            return _token(conversation, channel)
        if conversation.sends_left <= 0:
            break
    raise SendBudgetExhausted("no sends are left until the person writes again")


def _token(conversation: Conversation, channel: Channel) -> str:
    """Return the context token, unless it is of a login before."""
    return conversation.context_token if conversation.context_epoch == channel.epoch else ""


def _is_over(bridge: Bridge, channel: Channel, conversation: Conversation) -> bool:
    if conversation.context_at is None:
        return True
    age = (bridge.clock.now() - conversation.context_at).total_seconds()
    return age > (platform_of(channel).context_seconds or bridge.settings.reply.context_lifetime_seconds)


def note_refusal(bridge: Bridge, channel: Channel, error: RefusedError | PlatformBusy) -> None:
    """Write what a refusal means for the channel: its session has ended, its app is held, or it has to be quiet.

    Raises NotYet where an app has made too many calls, in all or at the same moment: that says nothing about this turn.
    """
    if isinstance(error, SessionExpired):
        session_ended(bridge, channel.id, channel.epoch, error)
    elif isinstance(error, AppHeld):
        begin_hold(bridge, channel, error)
    elif isinstance(error, QuotaUsedUp):
        seconds = max(ladder.quota_seconds(channel.send_refusals), error.retry_after_seconds or 0.0)
        bridge.holds.pause(channel.id, channel.send_refusals, bridge.clock.after(seconds))
        raise NotYet(seconds) from error
    elif isinstance(error, PlatformBusy) and platform_of(channel).is_paced_per_person:
        raise NotYet(random.uniform(1.0, 2.0) * SHORT_WAIT_SECONDS) from error  # and not all again at the same moment
    elif isinstance(error, PlatformBusy):
        until = bridge.clock.after(error.retry_after_seconds or SHORT_WAIT_SECONDS)
        bridge.channels.block_sends(channel.id, channel.epoch, until)
