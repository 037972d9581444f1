"""Welcome a person who came, where their channel wants it."""

from __future__ import annotations

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.people.notice import say
from wechat_bridge.model import access, keys
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.model.message import InboxRow


def welcome(bridge: Bridge, channel: Channel, row: InboxRow, text: str) -> None:
    """Answer the event in ``row`` with a text, once however often it is repeated. Raises LedgerUnavailable.

    Not to whom the channel does not answer, and not while another text that nobody asked for is on its way.
    """
    conversation = conversation_of(bridge, row.share_id, row.user_id)
    if is_welcome(bridge, channel, conversation):
        say(bridge, keys.welcome_id(row.share_id, row.message_id), conversation, text)


def conversation_of(bridge: Bridge, share_id: str, user_id: str) -> Conversation:
    """Return what is known of a conversation, or one of which nothing is. Raises LedgerUnavailable."""
    chat_id = keys.chat_id(share_id, user_id)
    return bridge.conversations.get(chat_id) or Conversation(id=chat_id, share_id=share_id, user_id=user_id)


def is_welcome(bridge: Bridge, channel: Channel, conversation: Conversation) -> bool:
    """Whether a channel answers a person, so that it may welcome them."""
    return access.refusal(channel.access, False, conversation.access, bridge.clock.now()) is None
