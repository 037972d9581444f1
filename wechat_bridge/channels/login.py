"""What the flow asks of a platform in whose accounts people log in by scanning a code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from wechat_bridge.model.login import QrCode, QrStatus


class LoginDoor(Protocol):
    """A platform with QR logins. Both methods raise PlatformUnavailable."""

    def fetch_code(self, local_tokens: Sequence[str], base_url: str) -> QrCode:
        """Begin a login. ``local_tokens`` are tokens of bots already here, newest first."""
        ...

    def ask(
        self, qrcode: str, number: str, base_url: str, default_base_url: str, *, is_patient: bool = False
    ) -> QrStatus:
        """Ask what became of a code, for some seconds, or for as long as the platform holds it if ``is_patient``.

        Nothing new in time is ``wait``. ``number`` is what the phone shows, or empty. An account that names no address
        gets ``default_base_url``.
        """
        ...
