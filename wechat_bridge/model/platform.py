"""What a platform allows, as far as it matters where replies are cut, paced and sent; one value for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from wechat_bridge.model.channel import Channel, ChannelKind
from wechat_bridge.model.message import ItemKind

_SHOWN = frozenset({ItemKind.IMAGE, ItemKind.VIDEO})


@dataclass(frozen=True, slots=True)
class Platform:
    """What may be sent, and how.

    ``is_answering`` says that a bot may only answer: sends are counted against a person's last message, end some time
    after it, and few may be unasked. ``text_bytes`` is the longest text in UTF-8 bytes and ``most_parts`` the most
    messages of one answer; 0: as the settings say. ``per_minute`` and ``per_hour`` are the most messages that we send
    to one person, below what the platform discards without a word; 0: the account as a whole is paced instead.
    ``context_seconds`` is for how long after a person's message it may be answered; 0: as the settings say.
    ``shown`` are the kinds of files that people see as what they are; others are sent as documents. ``is_markdown``:
    texts go out as the engine wrote them.
    """

    is_answering: bool
    text_bytes: int = 0
    most_parts: int = 0
    per_minute: int = 0
    per_hour: int = 0
    context_seconds: float = 0
    shows_typing: bool = True
    shown: frozenset[ItemKind] = _SHOWN
    is_markdown: bool = False

    @property
    def is_paced_per_person(self) -> bool:
        """Whether each person's messages are counted, instead of the account as a whole being paced."""
        return self.per_minute > 0


ILINK = Platform(is_answering=True)
"""The voice of a bot is accepted and never shown (Tencent issue 215)."""

WECOM = Platform(
    is_answering=False,
    text_bytes=2_048,
    most_parts=50,
    per_minute=25,
    per_hour=900,
    shows_typing=False,
    shown=_SHOWN | {ItemKind.VOICE},
)
"""WeCom discards what one person gets beyond 30 messages a minute and 1,000 an hour, and cuts texts at 2,048 bytes."""

WECOM_KF = Platform(
    is_answering=True,
    text_bytes=2_048,
    most_parts=5,
    per_minute=25,
    per_hour=900,
    context_seconds=48 * 3_600,
    shows_typing=False,
    shown=_SHOWN | {ItemKind.VOICE},
)
"""Customer service: five messages within 48 hours of each of the customer's; more are accepted and not shown."""

PLATFORMS: Mapping[ChannelKind, Platform] = MappingProxyType(
    {ChannelKind.ILINK: ILINK, ChannelKind.WECOM: WECOM, ChannelKind.WECOM_KF: WECOM_KF}
)


def platform_of(channel: Channel) -> Platform:
    """Return what the platform of a channel allows; an operator may have chosen ``markdown``."""
    platform = PLATFORMS[channel.kind]
    return replace(platform, is_markdown=True) if channel.settings.get("markdown") is True else platform
