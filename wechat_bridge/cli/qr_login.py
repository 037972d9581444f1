"""Follow a QR login in front of a person, whoever does its steps: a worker, or this process."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from wechat_bridge.errors import LoginFailed
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.login.number import submit_number
from wechat_bridge.flow.login.step import take_step
from wechat_bridge.model.login import WRONG_NUMBER, LoginPhase, QrLogin

LOOK_SECONDS = 0.2


class Screen(Protocol):
    """The person in front of the terminal."""

    def show_code(self, link: str) -> None:
        """Show a QR code that contains ``link``, and the link."""
        ...

    def say(self, line: str) -> None:
        """Show a line."""
        ...

    def ask_number(self) -> str:
        """Ask for the number that the phone shows."""
        ...


@dataclass
class LoginWatch:
    """Shows a login as it changes, and does the steps that are due. Nothing is lost with it: the sweep goes on."""

    bridge: Bridge
    screen: Screen
    pause: Callable[[float], None] = time.sleep
    _shown: str = ""
    _said: set[str] = field(default_factory=set)

    def follow(self, login: QrLogin) -> None:
        """Return when the channel is logged in. Raises LoginFailed, BrokerUnavailable and LedgerUnavailable."""
        while not login.has_ended:
            self._show(login)
            self._go_on(login)
            login = self._current(login)
        if login.phase is LoginPhase.FAILED:
            raise LoginFailed(f"channel {login.share_id}: {login.note}")

    def _current(self, login: QrLogin) -> QrLogin:
        found = self.bridge.logins.get(login.share_id)
        if found is None:
            raise LoginFailed(f"the login of channel {login.share_id} is gone: its time is over; run the command again")
        if found.id != login.id:
            raise LoginFailed(f"another login of channel {login.share_id} was started; run the command again to see it")
        return found

    def _show(self, login: QrLogin) -> None:
        if login.link and login.link != self._shown:
            self._shown, self._said = login.link, set()
            self.screen.show_code(login.link)
        for line in (login.note, login.instruction):
            if line and line not in self._said and not login.number:
                self._said.add(line)
                self.screen.say(line)

    def _go_on(self, login: QrLogin) -> None:
        if login.phase is LoginPhase.NUMBER and not login.number:
            self._submit(login)
        elif self.bridge.clock.now() >= login.next_at:
            take_step(self.bridge, login.share_id, login.id, login.step)
        else:
            self.pause(LOOK_SECONDS)

    def _submit(self, login: QrLogin) -> None:
        """What the person typed may be no number, or come after the code has expired: the login goes on."""
        try:
            submit_number(self.bridge, login.share_id, self.screen.ask_number())
            self._said.discard(WRONG_NUMBER)
        except LoginFailed as error:
            self.screen.say(str(error))
