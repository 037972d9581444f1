"""The demo's personal account: a simulated WeChat, a channel that is logged in there, and its user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wechat_bridge.cli.chat import Person
from wechat_bridge.cli.console import Reporter
from wechat_bridge.cli.login import log_in
from wechat_bridge.local.home import Home
from wechat_bridge.local.simulated import SimulatedWechat
from wechat_bridge.model.channel import Channel
from wechat_bridge.simulators.ilink import IlinkControl
from wechat_bridge.wiring import Wired

USER_ID = "you@im.wechat"


class IlinkStage:
    """Personal WeChat (iLink)."""

    share_id = "demo"
    you_are = "a WeChat user"
    answered_by: tuple[str, ...] = ("poll", "reply")

    def __init__(self, home: Home, reporter: Reporter) -> None:
        self.server = SimulatedWechat(USER_ID, home.data / "simulator", home.logs / "simulator.log")
        self.variables = {"WECHAT_BRIDGE_MEDIA__ORIGINS": self.server.url}
        self._reporter = reporter

    @contextmanager
    def person(self, wired: Wired, wait_ready: Callable[[], None]) -> Iterator[Person]:
        """Have a channel that is logged in, and its user once the processes are ready."""
        bridge = wired.bridge
        if bridge.channels.get(self.share_id) is None:
            bridge.channels.add(Channel(id=self.share_id, name="demo", created_at=bridge.clock.now()))
        with IlinkControl(self.server.url) as control:
            log_in(wired, self.share_id, self.server.url, PhoneScreen(self._reporter))
            self._reporter.tell(f"channel {self.share_id} is logged in at the simulated WeChat")
            wait_ready()
            channel = bridge.channels.get(self.share_id)
            yield IlinkPerson(control, channel.account_id if channel else "")


class IlinkPerson:
    """The one who scanned."""

    platform = "WeChat"

    def __init__(self, control: IlinkControl, bot_id: str) -> None:
        self._control = control
        self._bot_id = bot_id

    def say(self, text: str) -> str:
        """Write to the bot."""
        return self._control.say(self._bot_id, USER_ID, text)[0]

    def seen(self, after: int) -> list[dict[str, Any]]:
        """Return what the bot wrote."""
        return self._control.deliveries(USER_ID, after=after)


class PhoneScreen:
    """Shows the steps of the login; the simulated phone needs no drawing of the code."""

    def __init__(self, reporter: Reporter) -> None:
        self.say = reporter.tell

    def show_code(self, link: str) -> None:
        """Say that there is a code."""
        self.say(f"got a QR code ({len(link)} characters)")

    def ask_number(self) -> str:
        """Return no number: the simulated WeChat confirms at once."""
        return ""
