"""Whether this process is alive, and who is not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from wechat_bridge.errors import LedgerUnavailable, OwnerStale
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.model.worker import Judgement, Worker
from wechat_bridge.observe.logging import logger
from wechat_bridge.settings import OwnerSettings
from wechat_bridge.store.clock import LedgerClock, boot_seconds
from wechat_bridge.store.workers import WorkerStore

log = logger(__name__)


class Heartbeat:
    """One thread that writes that this process is alive, on a connection of its own.

    A process that could not write for a while (frozen, or cut off) starts nothing that others may have taken over, and
    judges nobody: only who reached the ledger without a gap can tell a dead process from an unreachable ledger.
    """

    def __init__(
        self,
        describe: Callable[[], Worker],
        owner: str,
        workers: WorkerStore,
        clock: LedgerClock,
        unfinished: Unfinished,
        settings: OwnerSettings,
    ) -> None:
        self.owner = owner
        self._describe = describe
        self._workers = workers
        self._clock = clock
        self._unfinished = unfinished
        self._settings = settings
        self._last_beat: float | None = None
        self._steady_since: float | None = None
        self._jumps = 0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Announce the process, then beat in the background. Raises LedgerUnavailable."""
        self._workers.announce(self._describe())
        self._note_beat()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread and tell the others that this process has ended."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5)
        self._unfinished.work_off()
        try:
            long_enough = timedelta(seconds=2 * self._settings.dead_after_seconds)
            self._workers.leave(self.owner, self._clock.now() - long_enough)
        except LedgerUnavailable as error:
            log.warning("leave_failed", owner=self.owner, error=str(error))

    @property
    def is_running(self) -> bool:
        """Whether the thread that beats lives, whether or not the ledger can be reached."""
        return self._thread is not None and self._thread.is_alive()

    def check(self) -> None:
        """Raise OwnerStale when the last beat is too old."""
        if self._last_beat is None or boot_seconds() - self._last_beat > self._settings.stale_after_seconds:
            raise OwnerStale

    def dead_owners(self) -> Sequence[str]:
        """Return the owners that were not seen for too long; empty while this process cannot judge."""
        return self.judge().dead

    def judge(self) -> Judgement:
        """Return who was not seen for too long, and when the next one will be; nobody while this process cannot judge.

        Seen in the future is seen by the clock of a server that failed since. The clock is asked after the owners:
        an estimate from before a failover would make everybody look dead.
        """
        if not self._may_judge():
            return Judgement()
        workers = self._workers.all()
        self._clock.measure()
        if not self._may_judge():  # the answers may have taken as long as an outage
            return Judgement()
        now = self._clock.now()
        return self._judgement({worker.id: abs(now - worker.seen_at).total_seconds() for worker in workers})

    def _judgement(self, unseen_seconds: Mapping[str, float]) -> Judgement:
        """Only who is stale is about to die: all others missed a beat or two at most."""
        stale_after, dead_after = self._settings.stale_after_seconds, self._settings.dead_after_seconds
        dead = [owner for owner, seconds in unseen_seconds.items() if seconds > dead_after]
        left = [dead_after - seconds for seconds in unseen_seconds.values() if stale_after < seconds <= dead_after]
        return Judgement(dead, min(left, default=None))

    def _may_judge(self) -> bool:
        """Whether this process has reached the ledger, always by the same clock, for long enough."""
        self.check()
        steady_since = self._steady_since
        is_steady = steady_since is not None and boot_seconds() - steady_since >= self._settings.steady_seconds
        return is_steady and self._clock.jumps == self._jumps

    def _run(self) -> None:
        while not self._stop.wait(self._settings.beat_seconds):
            self._beat()
            self._unfinished.work_off()

    def _beat(self) -> None:
        began = boot_seconds()
        try:
            if not self._workers.seen(self.owner):
                self._workers.announce(self._describe())
            self._clock.measure()
        except LedgerUnavailable as error:
            self._steady_since = None
            log.warning("heartbeat_failed", owner=self.owner, error=str(error))
            return
        if boot_seconds() - began > self._settings.beat_seconds:
            # A ledger so slow makes living processes look dead: judge nobody until it has been quick for a while.
            self._steady_since = None
        if self._clock.jumps != self._jumps:
            # The others were seen by another clock until their next beat.
            self._jumps = self._clock.jumps
            self._steady_since = None
        self._note_beat()

    def _note_beat(self) -> None:
        now = boot_seconds()
        if self._last_beat is None or now - self._last_beat > self._settings.stale_after_seconds:
            self._steady_since = now
        self._steady_since = self._steady_since or now
        self._last_beat = now
