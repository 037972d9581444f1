"""Who may talk to a channel, and how much: decided from what is known, without asking anybody."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

MINUTE = timedelta(minutes=1)
DAY = timedelta(hours=24)
CODE_LIFETIME = timedelta(hours=1)
"""How long a pairing code holds, and how long its person gets no other."""

MOST_CODES = 3
"""Codes of one channel that wait at once: whoever writes while there are so many gets none."""

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Nothing that looks like something else: no I, O, 0 and 1."""

CODE_LENGTH = 8


class Policy(StrEnum):
    """Whom a channel answers. Somebody denied is answered under none."""

    OPEN = "open"  # everybody
    ALLOWLIST = "allowlist"  # whom an operator let in, and who scanned; nobody else hears anything
    PAIRING = "pairing"  # like allowlist, and others get a code that an operator approves
    DISABLED = "disabled"  # nobody; messages are still received and kept


class Standing(StrEnum):
    """What an operator decided about a person."""

    LISTED = "listed"  # let in by name
    PAIRED = "paired"  # let in by an approved code, which counts while the policy is pairing
    DENIED = "denied"  # never answered


class Reason(StrEnum):
    """Why a message is not answered, as its inbox row tells it."""

    DISABLED = "access: the channel answers nobody"  # wechat-bridge access policy
    DENIED = "access: the person is denied"  # wechat-bridge access allow lets them in
    NOT_LISTED = "access: the person is not on the list"  # wechat-bridge access allow
    NOT_PAIRED = "access: the person is not paired"  # wechat-bridge access approve, or allow
    MUTED = "the conversation is muted"  # wechat-bridge access unmute
    HUMAN = "a human answers"  # answer with wechat-bridge send; access bot ends it
    RATE = "over the messages per minute"  # wechat-bridge access limit
    QUOTA = "over the messages per day"  # wechat-bridge access limit


class AccessRules(BaseModel):
    """What a channel allows; 0 is no limit. A window of a limit begins with the first message after the one before."""

    model_config = ConfigDict(frozen=True)

    policy: Policy = Policy.OPEN
    messages_per_minute: int = Field(default=0, ge=0)
    messages_per_day: int = Field(default=0, ge=0)


class AccessSettings(BaseModel):
    """Limits for channels that have none of their own."""

    messages_per_minute: int = Field(default=0, ge=0, description="messages of one person a minute; 0: any number")
    messages_per_day: int = Field(default=0, ge=0, description="messages of one person in 24 hours; 0: any number")

    def applied_to(self, rules: AccessRules) -> AccessRules:
        """Return what counts on a channel: its own limits, or else these."""
        limits = {name: getattr(rules, name) or own for name, own in self.model_dump().items()}
        return rules.model_copy(update=limits)


class Told(BaseModel):
    """When a person was last told why nobody answers, and because of which inbox row."""

    model_config = ConfigDict(frozen=True)

    at: datetime
    row_id: str


class Person(BaseModel):
    """What is known of the person of a conversation; ``at`` is when that last changed, ``by`` who decided it.

    ``human_until`` is how long a human answers instead of the engine. ``code`` is a pairing code, good until
    ``code_until``. ``told`` is by the name of the reason.
    """

    model_config = ConfigDict(frozen=True)

    at: datetime | None = None
    standing: Standing | None = None
    by: str = ""
    muted: bool = False
    human_until: datetime | None = None
    code: str = ""
    code_until: datetime | None = None
    told: dict[str, Told] = Field(default_factory=dict)

    def is_with_human(self, now: datetime) -> bool:
        """Whether a human answers."""
        return self.human_until is not None and now < self.human_until

    def has_code(self, now: datetime) -> bool:
        """Whether a code waits for an operator."""
        return bool(self.code) and self.code_until is not None and now < self.code_until


@dataclass(frozen=True)
class Usage:
    """How many messages of a person were let in since the current windows began."""

    minute_from: datetime | None = None
    minute_count: int = 0
    day_from: datetime | None = None
    day_count: int = 0


@dataclass(frozen=True)
class Waiting:
    """A waiting message: its inbox row, and whether it is a command."""

    row_id: str
    is_command: bool = False


def refusal(rules: AccessRules, is_owner: bool, person: Person, now: datetime) -> Reason | None:
    """Return why a person is not answered at all, or None. ``is_owner``: their login is the channel's."""
    if rules.policy is Policy.DISABLED:
        return Reason.DISABLED
    if person.standing is Standing.DENIED:
        return Reason.DENIED
    if not (is_owner or person.standing is Standing.LISTED or rules.policy is Policy.OPEN):
        if rules.policy is Policy.ALLOWLIST:
            return Reason.NOT_LISTED
        if person.standing is not Standing.PAIRED:
            return Reason.NOT_PAIRED
    if person.muted:
        return Reason.MUTED
    return Reason.HUMAN if person.is_with_human(now) else None


def refused(
    rules: AccessRules, is_owner: bool, person: Person, usage: Usage, waiting: Sequence[Waiting], now: datetime
) -> dict[str, Reason]:
    """Return which of the waiting messages, oldest first, are not answered and why.

    Commands work while a human answers, or nobody could end that. They count for the rate, since each is answered, and
    the daily quota refuses questions only. Of too many messages the newest are refused.
    """
    reason = refusal(rules, is_owner, person, now)
    if reason is not None and reason is not Reason.HUMAN:
        return {each.row_id: reason for each in waiting}
    questions = [each for each in waiting if not each.is_command]
    found: dict[str, Reason] = {each.row_id: reason for each in questions} if reason else {}
    left = [each for each in waiting if each.row_id not in found]
    fast = _beyond(rules.messages_per_minute, usage.minute_from, usage.minute_count - len(found), MINUTE, now)
    many = _beyond(rules.messages_per_day, usage.day_from, usage.day_count - len(found), DAY, now)
    found |= {each.row_id: Reason.RATE for each in _newest(left, fast)}
    return found | {each.row_id: Reason.QUOTA for each in _newest(questions, many) if each in left}


def told_since(reason: Reason, usage: Usage, now: datetime) -> datetime | None:
    """Return since when somebody must have been told of a reason not to be told again; None: it is not told at all."""
    begins = {
        Reason.NOT_PAIRED: now - CODE_LIFETIME,
        Reason.RATE: usage.minute_from or now,
        Reason.QUOTA: usage.day_from or now,
    }
    return begins.get(reason)


def new_code() -> str:
    """Return a pairing code that nobody can guess."""
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))


def as_typed(code: str) -> str:
    """Return a code as it is stored, however somebody typed it."""
    return code.strip().upper().replace("-", "").replace(" ", "")


def _beyond(most: int, began: datetime | None, count: int, window: timedelta, now: datetime) -> int:
    is_current = began is not None and now < began + window
    return max(0, count - most) if most and is_current else 0


def _newest(waiting: Sequence[Waiting], count: int) -> Sequence[Waiting]:
    return waiting[max(0, len(waiting) - count) :]
