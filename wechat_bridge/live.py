"""What is in force now: the settings and the rules of events, exchanged as a whole while a process runs.

``settings`` is what a process was started with; this is what became of it since.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from wechat_bridge.model.event_rules import EventRules
from wechat_bridge.settings import Settings

T = TypeVar("T")


@dataclass(frozen=True)
class InForce:
    """One version of the configuration; version 0 is the environment alone."""

    version: int
    settings: Settings
    rules: EventRules


class Live:
    """Holds what is in force in this process. Whoever works for a while asks once and keeps what it got."""

    def __init__(self, settings: Settings, rules: EventRules | None = None, version: int = 0) -> None:
        self._current = InForce(version, settings, rules or EventRules())

    def current(self) -> InForce:
        """Return what is in force, whole: never parts of two versions."""
        return self._current

    def rules(self) -> EventRules:
        """Return the rules of events; the same object until they change."""
        return self._current.rules

    def swap(self, new: InForce) -> None:
        """Put another version in force. Rules that are as they were stay the object that they are."""
        old = self._current
        self._current = replace(new, rules=old.rules) if new.rules == old.rules else new


class Built(Generic[T]):
    """Something made from the rules, adapters or schemas say: once for each change of them, however many ask."""

    def __init__(self, live: Live, make: Callable[[EventRules], T]) -> None:
        self._live = live
        self._make = make
        self._made: tuple[EventRules, T] | None = None
        self._lock = threading.Lock()

    def get(self) -> T:
        """Return what was made from the rules that are in force. Raises what making raises."""
        made = self._made
        if made is not None and made[0] is self._live.rules():
            return made[1]
        with self._lock:
            rules = self._live.rules()
            if self._made is None or self._made[0] is not rules:
                self._made = (rules, self._make(rules))
            return self._made[1]
