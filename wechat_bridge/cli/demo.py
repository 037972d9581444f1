"""`wechat-bridge demo`, once its packages are known to be there."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wechat_bridge.cli.chat import Chat, NoAnswer
from wechat_bridge.cli.console import Reporter
from wechat_bridge.cli.login import log_in
from wechat_bridge.cli.session import own_bridge
from wechat_bridge.cli.signals import StopSignals
from wechat_bridge.errors import BridgeError
from wechat_bridge.flow.switch import switch
from wechat_bridge.local.environment import own_secrets
from wechat_bridge.local.home import Home
from wechat_bridge.local.ports import free_port
from wechat_bridge.local.ready import wait_ready
from wechat_bridge.local.simulated import SimulatedWechat
from wechat_bridge.local.system import System
from wechat_bridge.model.channel import Channel
from wechat_bridge.simulators.ilink import IlinkControl
from wechat_bridge.wiring import Wired

SHARE_ID = "demo"
USER_ID = "you@im.wechat"
LONGEST_SECONDS = 60.0

QUICK = {
    "WECHAT_CHANNEL_CONCURRENCY": "10",
    "WECHAT_REPLY_CONCURRENCY": "10",
    "WECHAT_BRIDGE_DEBOUNCE__IDLE_SECONDS": "0.3",
    "WECHAT_BRIDGE_STOP_GRACE_SECONDS": "1",
}
"""One account and one person: few threads start sooner, and nothing is worth waiting for at the end."""


def run(once: str | None) -> None:
    """Run the demo in a temporary folder, which stays only when something went wrong. Raises BridgeError."""
    folder = Path(tempfile.mkdtemp(prefix="wechat-bridge-demo-"))
    try:
        Demo(folder).run(once)
    except BridgeError as error:
        error.add_note(f"the logs are in {folder / 'logs'}")
        raise
    except KeyboardInterrupt:
        shutil.rmtree(folder)
        raise
    shutil.rmtree(folder)


class Demo:
    """Everything of `up` in one folder, and a simulated WeChat beside it."""

    def __init__(self, folder: Path) -> None:
        home = Home(folder)
        self.reporter = Reporter()
        self.web_port = free_port()
        self.wechat = SimulatedWechat(USER_ID, home.data / "simulator", home.logs / "simulator.log")
        ports = {"WECHAT_BRIDGE_WEB_PORT": str(self.web_port), "WECHAT_BRIDGE_FLOWER_PORT": str(free_port())}
        self.uses_given_ledger = bool(os.environ.get("MONGODB_URL"))
        media = {"WECHAT_BRIDGE_MEDIA__ORIGINS": self.wechat.url}
        self.system = System(home, self.reporter.tell, {**QUICK, **ports, **media}, [self.wechat], keep_data=False)

    def run(self, once: str | None) -> None:
        """Answer one message, or all that the person writes. Raises BridgeError; KeyboardInterrupt for one message."""
        deadline = time.monotonic() + LONGEST_SECONDS
        with StopSignals() as signals:
            try:
                with self.reporter.busy("starting"):
                    self.system.start()
                    self.wechat.wait_ready(self.reporter.tell)
                self._talk(once, deadline)
            finally:
                signals.ignore()
                self.system.stop()

    def _talk(self, once: str | None, deadline: float) -> None:
        os.environ.update({**self.system.urls, **own_secrets(self.system.home)})
        with own_bridge() as wired, IlinkControl(self.wechat.url) as control, self._channel(wired):
            chat = Chat(wired.bridge, control, SHARE_ID, USER_ID)
            if once is None:
                self._wait_ready(wired, deadline)
                converse(chat, self.reporter)
                return
            self._wait_ready(wired, deadline, only=("poll", "reply"))
            for answer in chat.ask(once, deadline - time.monotonic()):
                print(answer.text, flush=True)
                self.reporter.tell(f"answered after {answer.seconds:.2f} s")

    def _wait_ready(self, wired: Wired, deadline: float, only: tuple[str, ...] = ()) -> None:
        programs = [program for program in self.system.programs if not only or program.name in only]
        left = deadline - time.monotonic()
        with self.reporter.busy("waiting for the processes"):
            wait_ready(programs, wired.bridge.workers.all, self.web_port, self.reporter.tell, left)

    @contextmanager
    def _channel(self, wired: Wired) -> Iterator[None]:
        """Have a channel that is logged in at the simulated WeChat; switch it off at the end of a ledger that stays."""
        bridge = wired.bridge
        if bridge.channels.get(SHARE_ID) is None:
            bridge.channels.add(Channel(id=SHARE_ID, name="demo", created_at=bridge.clock.now()))
        log_in(wired, SHARE_ID, self.wechat.url, PhoneScreen(self.reporter))
        self.reporter.tell(f"channel {SHARE_ID} is logged in at the simulated WeChat")
        try:
            yield
        finally:
            if self.uses_given_ledger:
                switch(bridge, SHARE_ID, enabled=False)


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


def converse(chat: Chat, reporter: Reporter) -> None:
    """Let the person write until the end of the input or Ctrl-C."""
    reporter.tell("you are a WeChat user; write something (Ctrl-C or Ctrl-D ends the demo)")
    try:
        for line in _lines():
            _show_answers(chat, line, reporter)
    except KeyboardInterrupt:
        pass  # the way in which people end a conversation


def _show_answers(chat: Chat, line: str, reporter: Reporter) -> None:
    try:
        for answer in chat.ask(line, LONGEST_SECONDS):
            print(f"bot ({answer.seconds:.2f} s)> {answer.text}", flush=True)
    except NoAnswer as error:
        reporter.tell(str(error))


def _lines() -> Iterator[str]:
    """Yield what the person writes, blank lines left out."""
    prompt = "you> " if sys.stdin.isatty() else ""
    while True:
        try:
            line = input(prompt).strip()
        except EOFError:
            return
        if line:
            yield line
