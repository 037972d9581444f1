"""Runs SecantusDB's server with a clock that is wrong by so many seconds: ``shifted_server.py SECONDS OPTIONS...``."""

from __future__ import annotations

import datetime
import runpy
import sys
import time
from typing import Any

_REAL = datetime.datetime
_real_time = time.time
_shift_seconds = float(sys.argv.pop(1))


class _Kind(type):
    """What was made before the clock was changed, or by C, is a datetime like any other."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _REAL)


class _Shifted(_REAL, metaclass=_Kind):
    def __new__(cls, *values: Any, **named: Any) -> Any:
        """Make a datetime like any other."""
        return _REAL(*values, **named)

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Any:
        """Return the wrong time."""
        return _REAL.now(tz) + datetime.timedelta(seconds=_shift_seconds)


if __name__ == "__main__":
    datetime.datetime = _Shifted  # type: ignore[misc]
    time.time = lambda: _real_time() + _shift_seconds
    runpy.run_module("secantus", run_name="__main__")
