"""A channel: one bot account on one platform."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from wechat_bridge.model.access import AccessRules
from wechat_bridge.model.hold import Hold
from wechat_bridge.model.outgoing import OutgoingRules


class ChannelKind(StrEnum):
    """Which platform a channel speaks to."""

    ILINK = "ilink"  # personal WeChat ("ClawBot"), read by long polling
    WECOM = "wecom"  # an app of WeCom (企业微信), which calls us
    WECOM_KF = "wecom_kf"  # customer service (微信客服): WeCom rings, and we pull what was said


POLLED_KINDS = frozenset({ChannelKind.ILINK})
CALLED_KINDS = frozenset({ChannelKind.WECOM, ChannelKind.WECOM_KF})

DISABLED = "the channel is disabled"
"""Why a message that came while it was is not answered."""


class ChannelStatus(StrEnum):
    """Whether a channel receives. Anything but online needs a look; status_reason says which."""

    OFFLINE = "offline"  # nobody has logged it in, or it was logged out or disabled
    ONLINE = "online"  # its poll chain runs, or its platform may call
    ERROR = "error"  # it does not receive; reason failures heals by itself, login_needed wants a person


class StatusReason(StrEnum):
    """Why a channel is not online."""

    NONE = ""  # it is online
    NEVER_LOGGED_IN = "never_logged_in"  # log it in: wechat-bridge channel login
    LOGGED_OUT = "logged_out"  # somebody logged it out on purpose; its credentials are gone
    LOGIN_NEEDED = "login_needed"  # WeChat ended the session (-14): log it in again
    FAILURES = "failures"  # five failed polls within five minutes; probed until WeChat answers again


class QueueMode(StrEnum):
    """What becomes of messages that arrive while a turn of their conversation is open."""

    COLLECT = "collect"  # they become one next turn
    FOLLOWUP = "followup"  # each becomes a turn of its own, in order
    INTERRUPT = "interrupt"  # the open turn ends unanswered at its next step, and the newest is answered


class Account(BaseModel):
    """Credentials and address of one login, as a door needs them. Never logged."""

    model_config = ConfigDict(frozen=True)

    token: str = Field(repr=False)
    account_id: str
    base_url: str


class Login(BaseModel):
    """What a confirmed login gives: the account, and the WeChat user who scanned."""

    model_config = ConfigDict(frozen=True)

    account: Account
    owner_user_id: str


class Channel(BaseModel):
    """One document of the ``channels`` collection; ``id`` is the share_id.

    ``generation`` counts the links taken, ``epoch`` the logins. ``sealed_account`` is the encrypted account.
    All times are the ledger's clock; after ``codes_until`` no pairing code waits. ``last_callback_at`` is kept to half
    a minute.
    """

    id: str
    kind: ChannelKind = ChannelKind.ILINK
    name: str = ""
    enabled: bool = True
    status: ChannelStatus = ChannelStatus.OFFLINE
    status_reason: StatusReason = StatusReason.NEVER_LOGGED_IN
    sealed_account: str | None = Field(default=None, repr=False)
    account_id: str = ""
    owner_user_id: str | None = None
    sync_buf: str = ""
    epoch: int = 0
    generation: int = 0
    poll_owner: str | None = None
    poll_claim: str | None = None
    link_deadline: datetime | None = None
    next_poll_at: datetime | None = None
    probe_at: datetime | None = None
    probe_delay_seconds: float | None = None
    hold_hint_seconds: float | None = None
    suspect_polls: int = 0
    send_blocked_until: datetime | None = None
    send_refusals: int = 0
    hold: Hold | None = None
    engine: str = "echo"
    queue_mode: QueueMode = QueueMode.COLLECT
    access: AccessRules = Field(default_factory=AccessRules)
    outgoing: OutgoingRules = Field(default_factory=OutgoingRules)
    codes_until: datetime | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    last_poll_at: datetime | None = None
    last_message_at: datetime | None = None
    last_callback_at: datetime | None = None
    last_error: str | None = None
    login_time: datetime | None = None
    login_alert_at: datetime | None = None
    created_at: datetime | None = None

    @property
    def share_id(self) -> str:
        """The name of the channel."""
        return self.id

    @property
    def may_send(self) -> bool:
        """Whether replies may go out: it has a login that WeChat has not ended."""
        return self.sealed_account is not None and self.status_reason is not StatusReason.LOGIN_NEEDED

    @property
    def is_held(self) -> bool:
        """Whether nothing may go out until somebody changes the app's configuration."""
        return self.hold is not None and self.hold.lasts

    @property
    def is_pollable(self) -> bool:
        """Whether a link may be served now: enabled, logged in, and online or waiting for a probe."""
        healthy = self.status is ChannelStatus.ONLINE
        probing = self.status is ChannelStatus.ERROR and self.status_reason is StatusReason.FAILURES
        return self.kind in POLLED_KINDS and self.enabled and self.sealed_account is not None and (healthy or probing)
