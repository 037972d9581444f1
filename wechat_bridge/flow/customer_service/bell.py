"""When an account of customer service is read: when WeCom rings, and every few minutes in case it did so in vain.

A doorbell carries no message, so none is lost with it: WeCom keeps for three days what was not pulled. That it rang is
noted in the ledger, and a pull ends only when it has read for every doorbell that it knew.
"""

from __future__ import annotations

from collections.abc import Sequence

from wechat_bridge.channels.wecom.xml import Fields, text_in
from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.seed import free_dead_locks
from wechat_bridge.model.channel import Channel, ChannelKind
from wechat_bridge.model.wecom import WecomSettings
from wechat_bridge.model.wecom_kf import service_id, service_of
from wechat_bridge.observe.logging import logger

log = logger(__name__)

DOORBELL = "kf_msg_or_event"


def heard(bridge: Bridge, channel: Channel, settings: WecomSettings, fields: Fields) -> str | None:
    """Note that WeCom rings; return the channel to be rung, or None for a callback that is no doorbell of ours.

    An app that serves several accounts has one callback address, so the doorbell may be for another channel than the
    one that was called. Raises LedgerUnavailable: then WeCom is to repeat it.
    """
    open_kfid = text_in(fields, "OpenKfId")
    if text_in(fields, "Event") != DOORBELL or not open_kfid:
        return None
    account_id, token = service_id(settings.corp_id, open_kfid), text_in(fields, "Token")
    sealed = bridge.channels.vault.seal_text(token) if token else None
    share_id = bridge.services.rang(account_id, bridge.clock.now(), sealed)
    if share_id is None and channel.kind is ChannelKind.WECOM_KF and service_of(channel.settings) == account_id:
        # The process that added the channel ended before it could say so.
        bridge.services.add(account_id, channel.id, bridge.clock.now())
        share_id = channel.id
    return share_id


def ring(bridge: Bridge, share_id: str) -> None:
    """Ring for a channel whose account is due, unless somebody has: WeCom rings for every message.

    A lost doorbell costs seconds: the due time is in the ledger.
    """
    try:
        _ring_all(bridge, [share_id], ())
    except BrokerUnavailable as error:
        log.warning("ring_failed", share_id=share_id, error=str(error))


def ring_due(bridge: Bridge) -> int:
    """Ring for every channel whose account is due; return for how many. The lock of a dead process is removed.

    Raises LedgerUnavailable and BrokerUnavailable.
    """
    due = bridge.services.due(bridge.clock.now())
    if not due or bridge.doorbells.waiting("history") > bridge.settings.sweep.ceiling:
        return 0
    share_ids, dead = [service.share_id for service in due], bridge.alive.dead_owners()
    free_dead_locks(bridge, share_ids, dead)
    return _ring_all(bridge, share_ids, dead)


def _ring_all(bridge: Bridge, share_ids: Sequence[str], dead: Sequence[str]) -> int:
    ours = bridge.locks.announce_all(bridge.owner, dict.fromkeys(share_ids, 0.0), dead)
    for share_id in ours:
        bridge.doorbells.ring_pull(share_id)
    return len(ours)
