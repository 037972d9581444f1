"""What a platform allows, as far as it matters where replies are cut, paced and sent; one value for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from types import MappingProxyType

from wechat_bridge.model.channel import Channel, ChannelKind
from wechat_bridge.model.markdown import for_wechat
from wechat_bridge.model.message import ItemKind
from wechat_bridge.model.plain_text import for_plain

_SHOWN = frozenset({ItemKind.IMAGE, ItemKind.VIDEO})


class Texts(Enum):
    """How a platform shows what an engine wrote."""

    WECHAT = auto()  # WeChat's client renders most of Markdown
    PLAIN = auto()  # signs of Markdown would be shown as they are written
    AS_WRITTEN = auto()  # it goes out as Markdown


@dataclass(frozen=True, slots=True)
class Platform:
    """What may be sent, and how.

    ``is_answering`` says that a bot may only answer: sends are counted against a person's last message, end some time
    after it, and few may be unasked. ``text_bytes`` is the longest text in UTF-8 bytes and ``most_parts`` the most
    messages of one answer; 0: as the settings say. ``per_minute`` and ``per_hour`` are the most messages that we send
    to one person, below what the platform discards without a word; 0: the account as a whole is paced instead.
    ``context_seconds`` is for how long after a person's message it may be answered; 0: as the settings say.
    ``shown`` are the kinds of files that people see as what they are; others are sent as documents. ``texts`` is what
    becomes of the Markdown of an answer.
    """

    is_answering: bool
    text_bytes: int = 0
    most_parts: int = 0
    per_minute: int = 0
    per_hour: int = 0
    context_seconds: float = 0
    shows_typing: bool = True
    shown: frozenset[ItemKind] = _SHOWN
    texts: Texts = Texts.WECHAT

    @property
    def is_paced_per_person(self) -> bool:
        """Whether each person's messages are counted, instead of the account as a whole being paced."""
        return self.per_minute > 0

    def read(self, text: str) -> str:
        """Return a text as people read it here, in words; that it was sent as Markdown hides no word."""
        return for_plain(text) if self.texts is Texts.PLAIN else for_wechat(text)

    def written(self, text: str) -> str:
        """Return a text as it is sent."""
        return text if self.texts is Texts.AS_WRITTEN else self.read(text)


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
    texts=Texts.PLAIN,
)
"""WeCom discards what one person gets beyond 30 messages a minute and 1,000 an hour, and cuts texts at 2,048 bytes."""

WECOM_KF = replace(WECOM, is_answering=True, most_parts=5, context_seconds=48 * 3_600)
"""Customer service: five messages within 48 hours of each of the customer's; more are accepted and not shown."""

PLATFORMS: Mapping[ChannelKind, Platform] = MappingProxyType(
    {ChannelKind.ILINK: ILINK, ChannelKind.WECOM: WECOM, ChannelKind.WECOM_KF: WECOM_KF}
)


def platform_of(channel: Channel) -> Platform:
    """Return what the platform of a channel allows; an operator may have chosen ``markdown``."""
    platform = PLATFORMS[channel.kind]
    return replace(platform, texts=Texts.AS_WRITTEN) if channel.settings.get("markdown") is True else platform
