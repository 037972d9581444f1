"""Cut a text into the messages that a platform takes."""

from __future__ import annotations

from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.chunks import split
from wechat_bridge.model.platform import ILINK, Platform, platform_of
from wechat_bridge.model.turn import Turn


def platform_for(bridge: Bridge, turn: Turn) -> Platform:
    """Return what the platform of a turn allows; who has read its channel has noted it on the turn."""
    if turn.platform is None:
        channel = bridge.channels.get(turn.share_id)
        turn.platform = platform_of(channel) if channel else ILINK
    return turn.platform


def parts_of(bridge: Bridge, platform: Platform, text: str, label: str = "", *, files: int = 0) -> list[str]:
    """Cut a text so that the files behind it fit into what one answer may be, too."""
    reply = bridge.settings.reply
    most_parts = max(1, (platform.most_parts or reply.sends_per_message) - files)
    most_bytes = min(reply.chunk_bytes, platform.text_bytes or reply.chunk_bytes)
    by_paragraph = reply.chunk_mode == "newline"
    written = platform.written(text)
    return split(written, reply.chunk_characters, most_bytes, most_parts, label, by_paragraph=by_paragraph)
