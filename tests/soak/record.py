"""What happened in a run, as the driver saw it: what was said, what was broken and when."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from wechat_bridge.model.channel import ChannelKind

WISHES = ("plain", "callbacks reordered", "callback lost", "callback repeated")
"""What lanes ask for: that the next message is one to an app of WeCom, and comes in this way."""


def _none() -> threading.Semaphore:
    return threading.Semaphore(0)


@dataclass(frozen=True)
class Said:
    """One message of a user, in the order in which the user said them.

    ``message_id`` is what the bridge calls it; ``bot_id`` is at WeCom what the simulator calls the app.
    """

    text: str
    message_id: str
    share_id: str
    bot_id: str
    user_id: str
    kind: ChannelKind = ChannelKind.ILINK
    callback_id: str = ""


@dataclass
class Injected:
    """One fault that was injected. Times are Unix seconds; ``remark`` is anything unusual about it."""

    kind: str
    target: str
    began: float
    ended: float | None = None
    remark: str = ""


@dataclass
class ScriptedSend:
    """A failure scripted for the next send of a bot, one of whose users had just ``said`` something.

    ``sends_before`` counts the bot's sends until then; ``client_id`` and ``user_id`` are of the send that met the
    failure, empty until one has.
    """

    kind: str
    said: Said
    sends_before: int
    client_id: str = ""
    user_id: str = ""

    @property
    def is_met(self) -> bool:
        """Whether a send is known to have met it."""
        return bool(self.client_id)


@dataclass
class ScriptedCall:
    """A failure scripted for the next call of an app of WeCom: of one of ``paths`` after the Unix time ``at``.

    A call has met it when it got one of ``errcodes``; where there are none, when it was scripted. Where there is a
    ``flag``, when that file has gone. ``text`` and ``user_id`` are of the send that met it, ``client_id`` of its chunk.
    """

    kind: str
    said: Said
    at: float
    paths: tuple[str, ...] = ()
    open_kfid: str = ""
    errcodes: tuple[int, ...] = ()
    flag: Path | None = None
    is_met: bool = False
    text: str = ""
    user_id: str = ""
    client_id: str = ""


@dataclass
class Record:
    """Everything the driver did, filled by several threads. ``restarts`` are of processes that ended by themselves."""

    said: list[Said] = field(default_factory=list)
    injected: list[Injected] = field(default_factory=list)
    scripted: list[ScriptedSend] = field(default_factory=list)
    calls: list[ScriptedCall] = field(default_factory=list)
    spilled_and_flushed: set[str] = field(default_factory=set)
    complaints: list[str] = field(default_factory=list)
    restarts: list[tuple[str, float]] = field(default_factory=list)
    reorders: threading.Semaphore = field(default_factory=_none)
    wishes: dict[str, threading.Semaphore] = field(default_factory=lambda: {wish: _none() for wish in WISHES})
    lock: threading.Lock = field(default_factory=threading.Lock)

    def say(self, *messages: Said) -> None:
        """Note what a user said."""
        with self.lock:
            self.said.extend(messages)

    def begin(self, kind: str, target: str) -> Injected:
        """Note that a fault begins."""
        injected = Injected(kind, target, time.time())
        with self.lock:
            self.injected.append(injected)
        return injected

    def complain(self, text: str) -> None:
        """Note something that must not happen, whatever the messages do."""
        with self.lock:
            self.complaints.append(text)

    def all_scripted(self) -> list[ScriptedSend | ScriptedCall]:
        """Return every failure that was scripted."""
        return [*self.scripted, *self.calls]

    def counts(self) -> Counter[str]:
        """Return how often each kind of fault was injected completely."""
        with self.lock:
            return Counter(injected.kind for injected in self.injected if injected.ended is not None)
