"""Send the answer of a turn, chunk by chunk."""

from __future__ import annotations

import time
from collections.abc import Sequence

from wechat_bridge.errors import BridgeError, SessionExpired
from wechat_bridge.flow.answer import skip
from wechat_bridge.flow.channel.accounts import opened
from wechat_bridge.flow.claim import claim_turn
from wechat_bridge.flow.close import close_turn
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.failure import failed, postpone
from wechat_bridge.flow.outgoing import REFUSED, as_checked, checked
from wechat_bridge.flow.pace import SHORT_WAIT_SECONDS, NotYet
from wechat_bridge.flow.send_chunk import LEASE_SECONDS, ClaimLost, Sender, send_chunk, write_chunk
from wechat_bridge.flow.wecom.held import check_held
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.outcome import Done, Outcome
from wechat_bridge.model.platform import platform_of
from wechat_bridge.model.turn import ChunkState, Turn, TurnState
from wechat_bridge.observe import metrics
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def deliver_reply(bridge: Bridge, turn_id: str) -> Outcome:
    """Claim a generated turn and send what WeChat has not accepted yet. Raises OwnerStale before claiming."""
    bridge.alive.check()
    turn = claim_turn(bridge, turn_id, TurnState.GENERATED, TurnState.DELIVERING, LEASE_SECONDS)
    if turn is None:
        return Done()
    try:
        with metrics.stage_seconds.labels("deliver").time():
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
    if turn.unchecked and not _may_go_out(bridge, turn, sender.channel):
        return Done()
    waiting = [number for number, chunk in enumerate(turn.chunks) if chunk.state is not ChunkState.ACCEPTED]
    try:
        _wait_while_blocked(bridge, sender.channel)
        for number in waiting:
            send_chunk(bridge, turn, sender, number)
            if number != waiting[-1]:
                write_chunk(bridge, turn, number, turn.chunks[number])
                _log_sent(turn, number)
    except NotYet as later:
        return postpone(bridge, turn, later.seconds)
    _finish(bridge, turn, waiting[-1:])
    return Done()


def _may_go_out(bridge: Bridge, turn: Turn, channel: Channel) -> bool:
    """Check the answer, and cut what may go out into chunks; False when that is nothing, and the turn has ended.

    A check that was passed shows that nothing is wrong with the turn: its attempts count anew. Raises ClaimLost.
    """
    said = checked(bridge, turn, channel)
    changes = as_checked(bridge, turn, said)
    if not turn.chunks:
        skip(bridge, turn, REFUSED, **changes)
        return False
    turn.deliver_attempts = 1
    if not bridge.turns.write(turn, changes | {"deliver_attempts": 1}):
        raise ClaimLost
    return True


def _sender(bridge: Bridge, turn: Turn) -> Sender:
    channel = bridge.channels.get(turn.share_id)
    if channel is None or not channel.may_send:
        raise SessionExpired(f"channel {turn.share_id} is not logged in; the reply waits for a login")
    check_held(bridge, channel, turn.id)
    turn.platform = platform_of(channel)
    return Sender(channel, bridge.doors[channel.kind], bridge.media_doors.get(channel.kind), opened(bridge, channel))


def _wait_while_blocked(bridge: Bridge, channel: Channel) -> None:
    if channel.send_blocked_until is None:
        return
    seconds = (channel.send_blocked_until - bridge.clock.now()).total_seconds()
    if seconds > SHORT_WAIT_SECONDS:
        raise NotYet(seconds)
    time.sleep(max(0.0, seconds))


def _log_sent(turn: Turn, number: int) -> None:
    message_id = turn.chunks[number].message_id
    log.info("chunk_sent", turn_id=turn.id, number=number, message_id=message_id, trace_id=turn.trace_id)


def _finish(bridge: Bridge, turn: Turn, last: Sequence[int]) -> None:
    """Write that all is sent, and with it that the last chunk was accepted: one write less for each turn."""
    accepted = {f"chunks.{number}": turn.chunks[number].model_dump() for number in last}
    if not bridge.turns.finish(turn, TurnState.SENT, bridge.clock.now(), {"error": None} | accepted):
        raise ClaimLost
    turn.state, turn.error = TurnState.SENT, None
    for number in last:
        _log_sent(turn, number)
    log.info("turn_sent", turn_id=turn.id, chunks=len(turn.chunks), trace_id=turn.trace_id)
