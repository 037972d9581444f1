"""What happened in a run, as the driver saw it: what was said, what was broken and when."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Said:
    """One message of a user, in the order in which the user said them."""

    text: str
    message_id: str
    share_id: str
    bot_id: str
    user_id: str


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


@dataclass
class Record:
    """Everything the driver did, filled by several threads. ``restarts`` are of processes that ended by themselves."""

    said: list[Said] = field(default_factory=list)
    injected: list[Injected] = field(default_factory=list)
    scripted: list[ScriptedSend] = field(default_factory=list)
    spilled_and_flushed: set[str] = field(default_factory=set)
    complaints: list[str] = field(default_factory=list)
    restarts: list[tuple[str, float]] = field(default_factory=list)
    reorders: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
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

    def counts(self) -> Counter[str]:
        """Return how often each kind of fault was injected completely."""
        with self.lock:
            return Counter(injected.kind for injected in self.injected if injected.ended is not None)
