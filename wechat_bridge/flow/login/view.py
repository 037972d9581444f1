"""A QR login as a person may see it."""

from __future__ import annotations

import io
from typing import Any

import segno

from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.login import QrLogin


def view(bridge: Bridge, login: QrLogin) -> dict[str, Any]:
    """Return a login as JSON values: what to do, the link, and the link as a QR code of text (light on dark)."""
    left = 0.0 if login.has_ended else (login.ends_at - bridge.clock.now()).total_seconds()
    return {
        "share_id": login.share_id,
        "phase": login.phase.value,
        "message": login.instruction,
        "note": login.note,
        "link": login.link,
        "qr": drawing(login.link) if login.link else "",
        "seconds_left": max(0, round(left)),
    }


def drawing(text: str) -> str:
    """Return a QR code as lines of half blocks, to be shown in white on black."""
    out = io.StringIO()
    segno.make(text, error="l", micro=False).terminal(out=out, border=2, compact=True)
    return out.getvalue().rstrip()
