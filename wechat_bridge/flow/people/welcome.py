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
    known = bridge.conversations.get(row.chat_id)
    conversation = known or Conversation(id=row.chat_id, share_id=row.share_id, user_id=row.user_id)
    if access.refusal(channel.access, False, conversation.access, bridge.clock.now()) is None:
        say(bridge, keys.welcome_id(row.share_id, row.message_id), conversation, text)
