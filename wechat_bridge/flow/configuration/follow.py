"""Put the newest good version of the configuration in force, at start and while the process runs."""

from __future__ import annotations

import threading
from collections.abc import Callable

from wechat_bridge.errors import BrokerUnavailable, DocumentInvalid, LedgerUnavailable, NotConfigured, SettingsError
from wechat_bridge.flow.configuration.check import Judge
from wechat_bridge.live import Live
from wechat_bridge.model.configuration import StoredConfiguration
from wechat_bridge.observe import alerts
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.configuration import ConfigurationCache, ConfigurationStore
from wechat_bridge.store.ledger import patience

log = logger(__name__)

LOOK_SECONDS = 1.0
PATIENCE_SECONDS = 5.0
MOST_BACK = 20
"""Versions that are tried at start, from the newest on, before the kept one is."""

UNREADABLE, UNREACHABLE = "configuration_unreadable", "configuration_unreachable"
SUBJECT = "configuration"
NONE_KEPT = "none was kept: the environment alone counts"
UNFIT = (DocumentInvalid, SettingsError, NotConfigured)


class Follower:
    """Looks every second whether the version after the last one it saw is published; one per process.

    ``tell`` is told in the ledger which version is in force here, so that whoever published one sees it taken up.
    A version that is unfit here is passed over with an alert: what was in force stays in force.
    """

    def __init__(
        self, live: Live, judge: Judge, store: ConfigurationStore, cache: ConfigurationCache,
        tell: Callable[[int], None],
    ) -> None:  # fmt: skip
        self._live = live
        self._judge = judge
        self._store = store
        self._cache = cache
        self._tell = tell
        self._told = 0
        self._seen: int | None = None
        self._unfit: set[int] = set()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Look in the background from now on."""
        self._thread = threading.Thread(target=self._run, name="configuration", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def load(self) -> None:
        """Put in force what a process starts with: the newest version that is good, else the kept one.

        Nothing is raised: with neither of them the environment alone counts, and there is an alert.
        """
        try:
            with patience(PATIENCE_SECONDS):
                self._begin()
        except LedgerUnavailable as error:
            self._use_kept(f"the ledger cannot be read ({error})")

    def look(self) -> None:
        """Put in force what was published since the last look. Raises LedgerUnavailable."""
        if self._seen is None or not self._is_still_there(self._seen):
            self._begin()
        if self._told != (version := self._live.current().version):
            self._tell(version)
            self._told = version

    def _is_still_there(self, number: int) -> bool:
        """Take up what comes after a version; False when that is gone: somebody has put an older ledger back."""
        is_there, is_next = self._store.there_are(number, number + 1)
        while is_next and self._try(number + 1) is not None:
            number += 1
        self._seen = number
        return is_there or number == 0

    def _run(self) -> None:
        is_reached = True
        while not self._stop.wait(LOOK_SECONDS):
            try:
                with patience(PATIENCE_SECONDS):
                    self.look()
                is_reached = True
            except LedgerUnavailable as error:
                if is_reached:
                    log.warning("configuration_not_read", version=self._live.current().version, error=str(error))
                is_reached = False

    def _begin(self) -> None:
        newest = self._store.newest_number()
        is_good = any(self._try(number) for number in range(newest, max(newest - MOST_BACK, 0), -1))
        self._seen = newest
        alerts.clear(UNREACHABLE, SUBJECT)
        if newest and not is_good:
            self._use_kept(f"none of the versions in the ledger is fit, the newest is {newest}")

    def _try(self, number: int) -> bool | None:
        """Put a version in force; False when it is unfit, None when there is none."""
        try:
            stored = self._store.get(number)
            if stored is None:
                return None
            self._put(stored)
        except UNFIT as error:
            self._unfit.add(number)
            alerts.raise_(
                UNREADABLE, f"version {number}",
                f"{error}; version {self._live.current().version} stays in force, publish a good one",
            )  # fmt: skip
            return False
        self._keep(stored)
        for unfit in {each for each in self._unfit if each < number}:
            self._unfit.remove(unfit)
            alerts.clear(UNREADABLE, f"version {unfit}")
        return True

    def _put(self, stored: StoredConfiguration) -> None:
        self._live.swap(self._judge.in_force(self._store.open(stored), stored.number))
        log.info("configuration_in_force", version=stored.number, by=stored.by, note=stored.note)

    def _keep(self, stored: StoredConfiguration) -> None:
        try:
            self._cache.keep(stored)
        except BrokerUnavailable as error:
            log.warning("configuration_not_kept", version=stored.number, error=str(error))

    def _use_kept(self, reason: str) -> None:
        try:
            kept = self._cache.get()
            if kept is not None:
                self._put(kept)
            used = f"version {kept.number} is used, which was the last good one" if kept else NONE_KEPT
        except (BrokerUnavailable, *UNFIT) as error:
            used = f"the kept one is no help ({error}): the environment alone counts"
        alerts.raise_(UNREACHABLE, SUBJECT, f"{reason}; {used}")
