"""`wechat-bridge demo`, once its packages are known to be there."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Protocol

from wechat_bridge.cli.chat import Chat, NoAnswer, Person
from wechat_bridge.cli.console import Reporter
from wechat_bridge.cli.demo_ilink import IlinkStage
from wechat_bridge.cli.demo_wecom import WecomStage
from wechat_bridge.cli.session import own_bridge
from wechat_bridge.cli.signals import StopSignals
from wechat_bridge.errors import BridgeError, ChannelUnknown, LedgerUnavailable
from wechat_bridge.flow.channel.switch import switch
from wechat_bridge.local.environment import own_secrets
from wechat_bridge.local.home import Home
from wechat_bridge.local.ports import free_port
from wechat_bridge.local.ready import wait_ready
from wechat_bridge.local.services import Service
from wechat_bridge.local.system import System
from wechat_bridge.wiring import Wired

LONGEST_SECONDS = 60.0

QUICK = {
    "WECHAT_CHANNEL_CONCURRENCY": "10",
    "WECHAT_REPLY_CONCURRENCY": "10",
    "WECHAT_BRIDGE_DEBOUNCE__IDLE_SECONDS": "0.3",
    "WECHAT_BRIDGE_STOP_GRACE_SECONDS": "1",
}
"""One account and one person: few threads start sooner, and nothing is worth waiting for at the end."""


def run(once: str | None, channel: str) -> None:
    """Run the demo in a temporary folder, which stays only when something went wrong. Raises BridgeError."""
    folder = Path(tempfile.mkdtemp(prefix="wechat-bridge-demo-"))
    try:
        Demo(folder, channel).run(once)
    except BridgeError as error:
        error.add_note(f"the logs are in {folder / 'logs'}")
        raise
    except KeyboardInterrupt:
        shutil.rmtree(folder)
        raise
    shutil.rmtree(folder)


class Stage(Protocol):
    """A simulated platform, a channel that is at home there, and a person."""

    share_id: str
    you_are: str
    answered_by: tuple[str, ...]

    @property
    def server(self) -> Service:
        """The platform, as a process."""
        ...

    @property
    def variables(self) -> Mapping[str, str]:
        """What the processes of the bridge are told of it."""
        ...

    def person(self, wired: Wired, wait_ready: Callable[[], None]) -> AbstractContextManager[Person]:
        """Have a channel, and a person who may write to it once the processes are ready."""
        ...


class Demo:
    """Everything of `up` in one folder, and a simulated platform beside it."""

    def __init__(self, folder: Path, channel: str) -> None:
        home = Home(folder)
        self.reporter = Reporter()
        self.web_port = free_port()
        is_wecom = channel == "wecom"
        self.stage: Stage = (
            WecomStage(home, self.reporter, self.web_port) if is_wecom else IlinkStage(home, self.reporter)
        )
        ports = {"WECHAT_BRIDGE_WEB_PORT": str(self.web_port), "WECHAT_BRIDGE_FLOWER_PORT": str(free_port())}
        self.uses_given_ledger = bool(os.environ.get("MONGODB_URL"))
        variables = {**QUICK, **ports, **self.stage.variables}
        self.system = System(home, self.reporter.tell, variables, [self.stage.server], keep_data=False)

    def run(self, once: str | None) -> None:
        """Answer one message, or all that the person writes. Raises BridgeError; KeyboardInterrupt for one message."""
        deadline = time.monotonic() + LONGEST_SECONDS
        with StopSignals() as signals:
            try:
                with self.reporter.busy("starting"):
                    self.system.start()
                    self.stage.server.wait_ready(self.reporter.tell)
                self._talk(once, deadline)
            finally:
                signals.ignore()
                self.system.stop()

    def _talk(self, once: str | None, deadline: float) -> None:
        os.environ.update({**self.system.urls, **own_secrets(self.system.home)})
        with (
            own_bridge() as wired,
            self._person(wired, deadline, () if once is None else self.stage.answered_by) as you,
        ):
            chat = Chat(wired.bridge, you, self.stage.share_id)
            if once is None:
                self.reporter.tell(f"you are {self.stage.you_are}; write something (Ctrl-C or Ctrl-D ends the demo)")
                converse(chat, self.reporter)
                return
            for answer in chat.ask(once, deadline - time.monotonic()):
                print(answer.text, flush=True)
                self.reporter.tell(f"answered after {answer.seconds:.2f} s")

    @contextmanager
    def _person(self, wired: Wired, deadline: float, only: tuple[str, ...]) -> Iterator[Person]:
        """Have a channel and a person; switch the channel off at the end of a ledger that stays."""
        try:
            with self.stage.person(wired, partial(self._wait_ready, wired, deadline, only)) as you:
                yield you
        finally:
            if self.uses_given_ledger:
                with suppress(LedgerUnavailable, ChannelUnknown):  # what went wrong before is what is told
                    switch(wired.bridge, self.stage.share_id, enabled=False)

    def _wait_ready(self, wired: Wired, deadline: float, only: tuple[str, ...]) -> None:
        programs = [program for program in self.system.programs if not only or program.name in only]
        left = deadline - time.monotonic()
        with self.reporter.busy("waiting for the processes"):
            wait_ready(programs, wired.bridge.workers.all, self.web_port, self.reporter.tell, left)


def converse(chat: Chat, reporter: Reporter) -> None:
    """Let the person write until the end of the input or Ctrl-C."""
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
