"""Send the answer of a turn, chunk by chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wechat_bridge.channels.base import PollingDoor
from wechat_bridge.errors import (
    BridgeError,
    OwnerStale,
    PlatformBusy,
    RefusedError,
    SendBudgetExhausted,
    SessionExpired,
)
from wechat_bridge.flow.claim import claim_turn
from wechat_bridge.flow.close import close_turn
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.failure import failed, postpone
from wechat_bridge.flow.session import session_ended
from wechat_bridge.model.channel import Account, Channel
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.model.outcome import Done, Outcome
from wechat_bridge.model.turn import Chunk, ChunkState, Turn, TurnState
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.clock import boot_seconds

log = logger(__name__)

LEASE_SECONDS = 60.0
"""Longer than one send with its timeouts; written anew with each chunk."""

SHORT_WAIT_SECONDS = 5.0
"""Waits up to this are spent in the thread, longer ones give the claim back."""

NEW_TOKEN_TRIES = 3
QUICK_TRIES = 3
QUICK_SECONDS = 2.0
"""Shorter than anybody needs to take over from a process that does not move."""


@dataclass(frozen=True)
class Sender:
    """The channel, its door and its login, for one delivery."""

    channel: Channel
    door: PollingDoor
    account: Account


class ClaimLost(Exception):
    """Somebody else has claimed the turn; there is nothing left to do here."""


def deliver_reply(bridge: Bridge, turn_id: str) -> Outcome:
    """Claim a generated turn and send what WeChat has not accepted yet. Raises OwnerStale before claiming."""
    bridge.alive.check()
    turn = claim_turn(bridge, turn_id, TurnState.GENERATED, TurnState.DELIVERING, LEASE_SECONDS)
    if turn is None:
        return Done()
    try:
        outcome = _deliver(bridge, turn)
    except ClaimLost:
        log.info("claim_lost", turn_id=turn.id, trace_id=turn.trace_id)
        return Done()
    except BridgeError as error:
        return failed(bridge, turn, error)
    if turn.state is TurnState.SENT:
        # What fails here is no failure of the send: the sweep closes the turn.
        close_turn(bridge, turn)
    return outcome


def _deliver(bridge: Bridge, turn: Turn) -> Outcome:
    sender = _sender(bridge, turn)
    blocked_seconds = _blocked_seconds(bridge, sender.channel)
    if blocked_seconds > SHORT_WAIT_SECONDS:
        return postpone(bridge, turn, blocked_seconds)
    if blocked_seconds > 0:
        bridge.stopping.wait(blocked_seconds)
    waiting = [number for number, chunk in enumerate(turn.chunks) if chunk.state is not ChunkState.ACCEPTED]
    for number in waiting:
        if number != waiting[0]:
            bridge.stopping.wait(bridge.settings.reply.pacing_seconds)
        _send_chunk(bridge, turn, sender, number)
        if number != waiting[-1]:
            _write_chunk(bridge, turn, number, turn.chunks[number])
            _log_sent(turn, number)
    _finish(bridge, turn, waiting[-1:])
    return Done()


def _sender(bridge: Bridge, turn: Turn) -> Sender:
    channel = bridge.channels.get(turn.share_id)
    if channel is None or not channel.may_send:
        raise SessionExpired(f"channel {turn.share_id} is not logged in; the reply waits for a login")
    return Sender(channel, bridge.doors[channel.kind], bridge.channels.vault.open(channel.sealed_account or ""))


def _blocked_seconds(bridge: Bridge, channel: Channel) -> float:
    if channel.send_blocked_until is None:
        return 0.0
    return (channel.send_blocked_until - bridge.clock.now()).total_seconds()


def _send_chunk(bridge: Bridge, turn: Turn, sender: Sender, number: int) -> None:
    """Send one chunk. Its outcome is unknown from the write before the send to the caller's write after it."""
    chunk = turn.chunks[number]
    context_token = _take_send(bridge, turn, sender.channel, chunk)
    bridge.alive.check()
    _mark_sending(bridge, turn, number)
    try:
        message_id = sender.door.send_text(sender.account, turn.user_id, chunk.text, chunk.client_id, context_token)
    except (RefusedError, PlatformBusy) as error:
        _write_chunk(bridge, turn, number, chunk.model_copy(update={"state": ChunkState.WAITING}))
        _note_refusal(bridge, sender.channel, error)
        raise
    accepted = {"state": ChunkState.ACCEPTED, "message_id": message_id, "at": bridge.clock.now()}
    turn.chunks[number] = chunk.model_copy(update=accepted)  # known from here on, whether it can be written or not


def _log_sent(turn: Turn, number: int) -> None:
    message_id = turn.chunks[number].message_id
    log.info("chunk_sent", turn_id=turn.id, number=number, message_id=message_id, trace_id=turn.trace_id)


def _mark_sending(bridge: Bridge, turn: Turn, number: int) -> None:
    """Write that a chunk is about to be sent. Raises ClaimLost when somebody else has claimed the turn.

    An answer that took long may be from before this process was frozen: only a quick one says that the claim is ours.
    """
    sending = turn.chunks[number].model_copy(update={"state": ChunkState.SENDING})
    for _ in range(QUICK_TRIES):
        began = boot_seconds()
        _write_chunk(bridge, turn, number, sending)
        if boot_seconds() - began < QUICK_SECONDS:
            return
    raise OwnerStale


def _write_chunk(bridge: Bridge, turn: Turn, number: int, chunk: Chunk) -> None:
    lease = {"lease_until": bridge.clock.after(LEASE_SECONDS), "ring_at": bridge.clock.after(LEASE_SECONDS)}
    if not bridge.turns.write_chunk(turn, number, chunk, lease):
        raise ClaimLost
    turn.chunks[number] = chunk


def _take_send(bridge: Bridge, turn: Turn, channel: Channel, chunk: Chunk) -> str:
    """Take one from the send budget; return the newest context token of this login.

    A chunk whose outcome is unknown has taken its share already.
    """
    for _ in range(NEW_TOKEN_TRIES):
        conversation = bridge.conversations.get(turn.chat_id)
        if conversation is None:
            break
        turn.seen_rev = conversation.rev
        if _is_over(bridge, conversation):
            break
        token = conversation.context_token if conversation.context_epoch == channel.epoch else ""
        if chunk.state is ChunkState.SENDING or bridge.conversations.take_send(
            turn.chat_id, conversation.context_token
        ):
            return token
        if conversation.sends_left <= 0:
            break
    raise SendBudgetExhausted("no sends are left until the person writes again")


def _is_over(bridge: Bridge, conversation: Conversation) -> bool:
    if conversation.context_at is None:
        return True
    age = (bridge.clock.now() - conversation.context_at).total_seconds()
    return age > bridge.settings.reply.context_lifetime_seconds


def _note_refusal(bridge: Bridge, channel: Channel, error: RefusedError | PlatformBusy) -> None:
    if isinstance(error, SessionExpired):
        session_ended(bridge, channel.id, channel.epoch, error)
    elif isinstance(error, PlatformBusy):
        until = bridge.clock.after(error.retry_after_seconds or SHORT_WAIT_SECONDS)
        bridge.channels.block_sends(channel.id, channel.epoch, until)


def _finish(bridge: Bridge, turn: Turn, last: Sequence[int]) -> None:
    """Write that all is sent, and with it that the last chunk was accepted: one write less for each turn."""
    accepted = {f"chunks.{number}": turn.chunks[number].model_dump() for number in last}
    if not bridge.turns.finish(turn, TurnState.SENT, bridge.clock.now(), {"error": None} | accepted):
        raise ClaimLost
    turn.state, turn.error = TurnState.SENT, None
    for number in last:
        _log_sent(turn, number)
    log.info("turn_sent", turn_id=turn.id, chunks=len(turn.chunks), trace_id=turn.trace_id)
