"""Customer service (微信客服) as a channel: one account of it, served by an app of WeCom, and how far it was read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from types import MappingProxyType
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from wechat_bridge.model.channel import ChannelKind
from wechat_bridge.model.message import InboundMessage
from wechat_bridge.model.platform import WECOM_KF
from wechat_bridge.model.wecom import WecomAccount, WecomSecrets, WecomSettings, account_of

SOURCE = "customer_service"
"""The source of inbox rows that were pulled."""

SENDS_PER_MESSAGE = WECOM_KF.most_parts
"""What WeCom shows a customer within 48 hours of each message of theirs; more is accepted and fails afterwards."""

MOST_WELCOME_BYTES = WECOM_KF.text_bytes


class SessionState(IntEnum):
    """Who has the session of a customer (facts, 8). Only in the first two may an app write to them."""

    NEW = 0  # the customer has written; nobody has taken it
    BOT = 1  # the app answers
    QUEUE = 2  # it waits among the company's people (接待池) for one who takes it
    HUMAN = 3  # one of the company's people answers, in WeCom's client
    ENDED = 4  # it is over; when the customer writes again, it is NEW

    @property
    def is_with_humans(self) -> bool:
        """Whether the company's people have it, so that they alone may write."""
        return self in (SessionState.QUEUE, SessionState.HUMAN)


class KfSettings(WecomSettings):
    """What an operator decides about a channel of kind ``wecom_kf``; holds no secret.

    Of the app that serves the account what WecomSettings says; ``open_kfid`` names the account. ``welcome_text`` is
    said to who opens the conversation anew ("": nothing is). What was said before ``answer_from`` is kept unanswered;
    None: before the channel was created. When a human takes over, the session moves at WeCom to ``servicer_userid``
    ("": to the queue, 接待池), who answers in WeCom's client; without ``moves_sessions`` it stays the app's, and the
    human answers through the bridge.
    """

    open_kfid: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    answer_from: datetime | None = None
    servicer_userid: str = Field(default="", pattern=r"^[^\s|,]{0,64}$")
    moves_sessions: bool = True
    welcome_events: frozenset[str] = Field(default=frozenset(), max_length=0)
    clicks: Literal[False] = False
    markdown: Literal[False] = False

    @property
    def account_id(self) -> str:
        """The ``service_id`` of the account."""
        return service_id(self.corp_id, self.open_kfid)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(self.welcome_text.encode()) > MOST_WELCOME_BYTES:
            raise ValueError(f"welcome_text should have at most {MOST_WELCOME_BYTES} bytes: it is one message")
        return self


class KfAccount(WecomAccount):
    """An app as the doors of customer service need it, and the account for which it speaks."""

    open_kfid: str


def kf_account_of(settings: KfSettings, secrets: WecomSecrets) -> KfAccount:
    """Put together what the doors of a channel need."""
    app = account_of(settings, secrets)
    return KfAccount.model_validate(app.model_dump() | {"open_kfid": settings.open_kfid})


SETTINGS_OF: Mapping[ChannelKind, type[WecomSettings]] = MappingProxyType(
    {ChannelKind.WECOM: WecomSettings, ChannelKind.WECOM_KF: KfSettings}
)
"""What an operator decides about a channel of each kind that is an app of WeCom."""


def service_id(corp_id: str, open_kfid: str) -> str:
    """Return the name of a customer service account that no other corp's has."""
    return f"{corp_id}:{open_kfid}"


def service_of(settings: Mapping[str, Any]) -> str:
    """Return the ``service_id`` of a channel by its settings, which a channel keeps that is logged out."""
    return service_id(str(settings.get("corp_id", "")), str(settings.get("open_kfid", "")))


def msgid_of(client_id: str) -> str:
    """Return the id under which WeCom takes one message of ours once: 32 of ``[0-9a-f]``, its longest being 32 bytes.

    The same ``client_id`` always gives the same one.
    """
    return hashlib.sha256(client_id.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of ``kf/sync_msg``: the row to be stored, and for an event its type and its fields."""

    message: InboundMessage
    event: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def text(self, name: str) -> str:
        """Return a field of the event that is text; "" for any other, and for none."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int | None:
        """Return a field of the event that is a number; None for any other, and for none."""
        value = self.fields.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None


@dataclass(frozen=True, slots=True)
class Page:
    """One answer of ``kf/sync_msg``; ``cursor`` is "" where it carried none. It may be empty while there is more."""

    entries: tuple[Entry, ...]
    cursor: str
    has_more: bool


class Service(BaseModel):
    """One document of the ``customer_service`` collection; ``id`` is the ``service_id`` of the account.

    ``cursor`` is up to where everything is in the inbox. ``generation`` counts the pulls, and is in the filter of what
    they write. ``doorbells`` counts how often WeCom rang: a pull ends only for those it knew. ``due_at`` is when to
    pull next, whoever rings; None: no channel reads the account. ``event_token`` is what the last doorbell carried,
    encrypted. ``failures`` counts failed pulls in a row. Times are the ledger's clock.
    """

    id: str
    share_id: str
    cursor: str = ""
    generation: int = 0
    claim: str | None = None
    doorbells: int = 0
    due_at: datetime | None = None
    event_token: str | None = Field(default=None, repr=False)
    event_token_at: datetime | None = None
    failures: int = 0
