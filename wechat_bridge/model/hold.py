"""A hold: WeCom takes nothing from an app until somebody changes its configuration."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from wechat_bridge.errors import AddressNotTrusted, AppHeld, CredentialRefused, PermissionMissing

HELD_REASONS = frozenset(each.reason for each in (AppHeld, AddressNotTrusted, CredentialRefused, PermissionMissing))
"""Why a turn is parked that waits for an app to work again."""


class StillHeld(AppHeld):
    """Something before this send found the app held; WeCom was not asked again, and a probe finds out when it works.

    ``reason`` is that of the hold.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message, 0)
        self.reason = reason


class Hold(BaseModel):
    """Stands on the channel from the first refusal until every parked reply has been released.

    ``cause`` is the reason, with the address that is not trusted where that is it. At ``probe_at`` the reply of
    ``turn_id``, and no other, finds out whether it works again; after ``delay_seconds`` more another one. None: it
    works, and what was parked is being released. ``told_at`` is when an operator was told.
    """

    reason: str
    cause: str
    error: str
    since: datetime
    told_at: datetime
    probe_at: datetime | None
    delay_seconds: float
    turn_id: str = ""

    @property
    def lasts(self) -> bool:
        """Whether the app is still held."""
        return self.probe_at is not None


def cause_of(error: AppHeld) -> str:
    """Return what tells one cause from another: WeCom's texts are different each time."""
    address = error.address if isinstance(error, AddressNotTrusted) else ""
    return f"{error.reason} {address}".strip()
