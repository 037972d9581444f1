"""Follow a QR login from the first code to the confirmed account."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.ilink import login as ilink
from wechat_bridge.channels.ilink.login import QrCode, QrStatus
from wechat_bridge.errors import AccountTaken, BridgeError, PlatformUnavailable
from wechat_bridge.model.channel import Login

WHOLE_SECONDS = 480.0
MOST_CODES = 3
PAUSE_SECONDS = 1.0
"""Tencent's client: 8 minutes in all, three codes, a second between two questions."""


class LoginNotConfirmed(BridgeError):
    """Nobody confirmed the login; run the command again."""


class Screen(Protocol):
    """The person in front of the terminal."""

    def show_code(self, link: str) -> None:
        """Show a QR code that contains ``link``."""
        ...

    def say(self, line: str) -> None:
        """Show a line."""
        ...

    def ask_number(self) -> str:
        """Ask for the number that the phone shows."""
        ...


@dataclass
class QrLogin:
    """One login at the iLink server ``api_base``; ``local_tokens`` are those of bots that are already here."""

    http: HttpClient
    screen: Screen
    api_base: str
    local_tokens: Sequence[str] = ()
    now: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep
    _said: set[str] = field(default_factory=set)
    _number: str = ""
    _host: str = ""

    def run(self) -> Login:
        """Return the confirmed login. Raises LoginNotConfirmed, AccountTaken, PlatformUnavailable (no code)."""
        deadline = self.now() + WHOLE_SECONDS
        for _ in range(MOST_CODES):
            login = self._follow(self._new_code(), deadline)
            if login is not None:
                return login
        raise LoginNotConfirmed(f"{MOST_CODES} QR codes expired unconfirmed; run the command again to get new ones")

    def _new_code(self) -> QrCode:
        code = ilink.fetch_qr(self.http, self.local_tokens, self.api_base)
        self._number, self._host, self._said = "", self.api_base, set()
        self.screen.show_code(code.link)
        self.screen.say("scan this code with WeChat on the phone")
        return code

    def _follow(self, code: QrCode, deadline: float) -> Login | None:
        """Return the login, or None when a new code is needed."""
        while self.now() < deadline:
            status = self._ask(code)
            if status.login is not None:
                return status.login
            if status.status in ("expired", "verify_code_blocked"):
                self.screen.say("the code has expired" if status.status == "expired" else "too many wrong numbers")
                return None
            self._react(status)
        raise LoginNotConfirmed(f"nobody confirmed within {WHOLE_SECONDS / 60:.0f} minutes; run the command again")

    def _ask(self, code: QrCode) -> QrStatus:
        try:
            return ilink.qr_status(
                self.http, code.qrcode, verify_code=self._number, base_url=self._host, default_base_url=self.api_base
            )
        except PlatformUnavailable as error:  # Tencent's client goes on waiting too
            self._say_once(f"still waiting ({error})")
            return QrStatus(ilink.WAIT)

    def _react(self, status: QrStatus) -> None:
        if status.status == "need_verifycode":
            self._ask_number()
            return
        if status.status == "binded_redirect":
            raise AccountTaken("this WeChat account is already connected through another channel of this bridge")
        if status.status == "scaned":
            self._number = ""
            self._say_once("scanned; now confirm on the phone")
        elif status.redirect_host:
            self._host = f"https://{status.redirect_host}"
        elif status.status != ilink.WAIT:
            self._say_once(f"WeChat says {status.status}")
        self.pause(PAUSE_SECONDS)

    def _ask_number(self) -> None:
        """The next question carries the number at once; the same status again means that it was wrong."""
        self.screen.say("that number is wrong" if self._number else "WeChat asks for the number shown on the phone")
        self._number = self.screen.ask_number()

    def _say_once(self, line: str) -> None:
        if line not in self._said:
            self._said.add(line)
            self.screen.say(line)
