"""Control commands of the person behind the server: switches, scripts, clock, record and figures."""

from __future__ import annotations

from collections import Counter
from typing import Any

from pydantic import NonNegativeFloat, NonNegativeInt

from wechat_bridge.simulators.control_errors import ControlError
from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.api import ENDPOINTS, PREFIX
from wechat_bridge.simulators.wecom.backstage import Backstage
from wechat_bridge.simulators.wecom.script import ScriptedAnswer


def options(stage: Backstage) -> Json:
    """The switches in force."""
    return stage.world.options.model_dump()


def set_options(stage: Backstage, changes: dict[str, Any]) -> Json:
    """Change switches. Returns those in force then."""
    stage.world.set_options(changes)
    return options(stage)


def script(stage: Backstage, path: str, entry: ScriptedAnswer, app: str = "") -> bool:
    """Script what the next calls of a path get, for example ``message/send``; of one app, or of any."""
    if path not in ENDPOINTS:
        raise ControlError(f"there is no path {path!r}; there are: {', '.join(sorted(ENDPOINTS))}")
    stage.world.script.add(PREFIX + path, stage.app(app).key if app else "", entry)
    return True


def clear_script(stage: Backstage) -> bool:
    """Forget everything scripted."""
    stage.world.script.clear()
    return True


def advance_clock(stage: Backstage, seconds: NonNegativeFloat) -> float:
    """Move the server's clock ahead, for tokens, media, limits and windows; returns its Unix time.

    Timestamps of callbacks stay on the real clock, which is also their receiver's.
    """
    stage.world.clock_offset_seconds += seconds
    return stage.world.now()


async def calls(
    stage: Backstage,
    path: str = "",
    app: str = "",
    after: NonNegativeInt = 0,
    count: NonNegativeInt = 0,
    timeout_seconds: NonNegativeFloat = 0.0,
) -> list[Json]:
    """Every call of a path (of all, without), refused ones too, beyond the first `after`; may wait for `count`."""

    def rows() -> list[Json]:
        wanted = {"", path and PREFIX + path}
        found = [row for row in stage.world.calls if path == "" or row["path"] in wanted]
        return [row for row in found if app in {"", row["app"]}][after:]

    await stage.world.calls_changed.wait_until(lambda: len(rows()) >= count, timeout_seconds)
    return rows()


def stats(stage: Backstage) -> Json:
    """Figures: calls by path and error code, outcomes of sends, callbacks by state, and how long answers took."""
    world = stage.world
    seconds = sorted(attempt.seconds for callback in world.callbacks for attempt in callback.attempts)
    return {
        "calls": dict(Counter(f"{row['path'].removeprefix(PREFIX)} {row['errcode']}" for row in world.calls)),
        "outcomes": dict(Counter(outcome for row in world.calls for outcome in row["outcomes"].values())),
        "callbacks": dict(Counter(callback.state for callback in world.callbacks)),
        "attempts": len(seconds),
        "answer_seconds_p50": percentile(seconds, 0.5),
        "answer_seconds_p99": percentile(seconds, 0.99),
        "deliveries": len(world.screen.seen()),
    }


def percentile(ordered: list[float], part: float) -> float:
    """The value below which that part of an ordered list lies; 0 for an empty one."""
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)] if ordered else 0.0


async def reset(stage: Backstage) -> bool:
    """Stop every callback and forget everything, switches included."""
    await stage.sender.cancel()
    stage.world.reset()
    return True


COMMANDS = (options, set_options, script, clear_script, advance_clock, calls, stats, reset)
