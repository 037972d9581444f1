"""What an event of customer service does: to the conversation, to a reply, to a message, or to who has just come."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from wechat_bridge.errors import BridgeError, LedgerUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.customer_service.failed import not_shown
from wechat_bridge.flow.people.takeover import LONGEST_SESSION, bot_serves, human_serves
from wechat_bridge.flow.people.welcome import conversation_of, is_welcome
from wechat_bridge.model import keys
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.wecom_kf import Entry, KfAccount, KfSettings
from wechat_bridge.observe.logging import logger

log = logger(__name__)

Effect = Callable[[Bridge, Channel, KfSettings, KfAccount, Entry], None]

SERVED, HANDED_ON, ENDED, SERVED_AGAIN = 1, 2, 3, 4
"""What a session_status_change may be: a human takes it up, another human does, it ends, a human takes it up again."""

WELCOME_SECONDS = 20.0
"""For how long a welcome code is good."""

RECALLED = "the customer took it back"
BY = "customer service"


def _session(bridge: Bridge, channel: Channel, settings: KfSettings, account: KfAccount, entry: Entry) -> None:
    """A human serves the customer, and the engine is silent until they have left."""
    user_id, change = entry.message.user_id, entry.number("change_type")
    if change == ENDED:
        bot_serves(bridge, channel.id, user_id, BY)
    elif change in (SERVED, HANDED_ON, SERVED_AGAIN):
        now = bridge.clock.now()
        human_serves(bridge, channel.id, user_id, BY, (entry.message.sent_at or now) + LONGEST_SESSION, now)


def _not_shown(bridge: Bridge, channel: Channel, settings: KfSettings, account: KfAccount, entry: Entry) -> None:
    not_shown(bridge, channel.id, entry.message.user_id, entry.text("fail_msgid"), entry.number("fail_type"))


def _recalled(bridge: Bridge, channel: Channel, settings: KfSettings, account: KfAccount, entry: Entry) -> None:
    """A message that was taken back is not answered any more, if nobody has begun to."""
    bridge.inbox.skip([keys.inbox_id(channel.id, entry.text("recall_msgid"))], RECALLED)


def _entered(bridge: Bridge, channel: Channel, settings: KfSettings, account: KfAccount, entry: Entry) -> None:
    """Welcome who opened the conversation, if it was just now. What goes wrong costs the welcome and nothing else."""
    code, sent_at = entry.text("welcome_code"), entry.message.sent_at
    if not (code and sent_at and settings.welcome_text and channel.enabled):
        return
    conversation = conversation_of(bridge, channel.id, entry.message.user_id)
    is_late = (bridge.clock.now() - sent_at).total_seconds() > WELCOME_SECONDS
    if is_late or not is_welcome(bridge, channel, conversation):
        return
    client_id = keys.client_id(keys.welcome_id(channel.id, entry.message.message_id), 0)
    try:
        bridge.customer_service.send_on_event(account, code, settings.welcome_text, client_id)
    except LedgerUnavailable:
        raise
    except BridgeError as error:
        log.warning("welcome_failed", share_id=channel.id, error=str(error))
        return
    log.info("customer_welcomed", share_id=channel.id, user_id=entry.message.user_id)


EFFECTS: Mapping[str, Effect] = {
    "session_status_change": _session,
    "msg_send_fail": _not_shown,
    "user_recall_msg": _recalled,
    "enter_session": _entered,
}
"""Events of other types are kept, and do nothing."""
