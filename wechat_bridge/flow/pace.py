"""Wait until one more message may go out: a platform punishes bursts, or discards what is too much without a word."""

from __future__ import annotations

import time

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.platform import Platform, platform_of
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.pacing import Slot

log = logger(__name__)

SHORT_WAIT_SECONDS = 5.0
"""Waits up to this are spent in the thread, longer ones give the claim back."""


class NotYet(Exception):
    """The account may not send for a while; the claim is given back and no attempt is counted."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"in {seconds:.1f} s")
        self.seconds = seconds


def wait_for_slot(bridge: Bridge, channel: Channel, user_id: str) -> Slot:
    """Wait until one more message may go to a person; return the slot. Raises NotYet when that takes long."""
    platform = platform_of(channel)
    is_per_person = platform.is_paced_per_person
    slot = _of_person(bridge, channel, platform, user_id) if is_per_person else _of_account(bridge, channel)
    if slot.wait_seconds > SHORT_WAIT_SECONDS:
        raise NotYet(slot.wait_seconds)
    time.sleep(slot.wait_seconds)
    return slot


def _of_account(bridge: Bridge, channel: Channel) -> Slot:
    """Without Redis there is no pacing, and nobody waits for it."""
    gap = bridge.settings.reply.pacing_seconds
    try:
        return bridge.pacing.reserve(channel.id, gap, SHORT_WAIT_SECONDS) if gap else Slot(0.0, None)
    except BrokerUnavailable as error:
        log.warning("send_not_paced", share_id=channel.id, error=str(error))
        return Slot(0.0, None)


def _of_person(bridge: Bridge, channel: Channel, platform: Platform, user_id: str) -> Slot:
    """Without Redis nobody knows what the person has got already, and what is too much is lost: it has to wait."""
    most = (platform.per_minute, platform.per_hour)
    try:
        return bridge.pacing.reserve_for_person(channel.account_id, user_id, *most, SHORT_WAIT_SECONDS)
    except BrokerUnavailable as error:
        log.warning("send_waits_for_pacing", share_id=channel.id, error=str(error))
        raise NotYet(2 * SHORT_WAIT_SECONDS) from error
