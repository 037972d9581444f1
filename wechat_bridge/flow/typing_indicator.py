"""When the typing indicator is shown, shown again, and taken away."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

FIRST_SECONDS = 0.5
"""A person need not be told about an answer that is there so soon."""

REFRESH_SECONDS = 5.0
"""The indicator fades if it is not shown again."""

THREADS = 4


class _Shown:
    """An indicator that is wanted, and the last call about it."""

    def __init__(self, set_typing: Callable[[bool], None]) -> None:
        self.set_typing = set_typing
        self.call: Future[None] | None = None


class TypingIndicator:
    """One per process: a thread that knows who is due, and a few that speak to the platform."""

    def __init__(self) -> None:
        self._due: dict[_Shown, float] = {}
        self._changed = threading.Condition()
        self._callers = ThreadPoolExecutor(THREADS, thread_name_prefix="typing")
        self._thread: threading.Thread | None = None
        self._closed = False

    @contextmanager
    def shown(self, set_typing: Callable[[bool], None]) -> Iterator[None]:
        """Call ``set_typing(True)`` every 5 s while the block runs and ``set_typing(False)`` once behind it.

        A block of less than half a second shows nothing. Calls run in other threads, never two of one block at once.
        """
        shown = _Shown(set_typing)
        self._add(shown)
        try:
            yield
        finally:
            self._end(shown)

    def close(self) -> None:
        """End the threads; an indicator that is still shown fades by itself."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._callers.shutdown(wait=False, cancel_futures=True)

    def _add(self, shown: _Shown) -> None:
        with self._changed:
            if self._closed:
                return
            self._due[shown] = time.monotonic() + FIRST_SECONDS
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="typing-clock", daemon=True)
                self._thread.start()
            if len(self._due) == 1:
                self._changed.notify()

    def _end(self, shown: _Shown) -> None:
        with self._changed:
            self._due.pop(shown, None)
            if shown.call is not None and not self._closed:
                shown.call.add_done_callback(lambda _: self._submit(shown, False))

    def _run(self) -> None:
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                for shown in [each for each, at in self._due.items() if at <= now]:
                    self._due[shown] = now + REFRESH_SECONDS
                    if shown.call is None or shown.call.done():
                        shown.call = self._submit(shown, True)
                self._changed.wait(min(self._due.values()) - now if self._due else None)

    def _submit(self, shown: _Shown, is_typing: bool) -> Future[None] | None:
        try:
            return self._callers.submit(shown.set_typing, is_typing)
        except RuntimeError:  # closed meanwhile
            return None
