"""Show a person that an answer is being worked on. Nothing waits for it, and nothing fails with it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import partial

from wechat_bridge.errors import BridgeError, SessionExpired
from wechat_bridge.flow.channel.accounts import opened
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.login.session import session_ended
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.platform import platform_of
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def typing(bridge: Bridge, channel: Channel | None, user_id: str) -> AbstractContextManager[None]:
    """Show the typing indicator to a person while the block runs, if the channel can."""
    if channel is None or not channel.may_send or not platform_of(channel).shows_typing:
        return nullcontext()
    return bridge.typing.shown(partial(_set_typing, bridge, channel, user_id))


def _set_typing(bridge: Bridge, channel: Channel, user_id: str, is_typing: bool) -> None:
    try:
        bridge.doors[channel.kind].set_typing(opened(bridge, channel), user_id, is_typing=is_typing)
    except SessionExpired as error:
        session_ended(bridge, channel.id, channel.epoch, error)
    except BridgeError as error:
        log.debug("typing_failed", share_id=channel.id, error=str(error))
