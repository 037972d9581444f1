"""What the simulated WeChat saw of the polls in a window of time. Times are Unix seconds of this machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from wechat_bridge.simulators.ilink import BotCredentials, IlinkControl


@dataclass
class PollFigures:
    """Polls that ended in the window, and the gaps from the end of an empty one to the next poll of its channel."""

    ended: int = 0
    overlaps: int = 0
    gaps_seconds: list[float] = field(default_factory=list)


def poll_figures(control: IlinkControl, bots: Iterable[BotCredentials], since: float, until: float) -> PollFigures:
    """Read the poll log of every bot."""
    figures = PollFigures()
    for bot in bots:
        polls = control.polls(bot["bot_id"])
        figures.ended += sum(_ended_between(poll, since, until) for poll in polls)
        figures.overlaps += control.stats(bot["bot_id"])["overlap_count"]
        figures.gaps_seconds += [
            second["started_at"] - first["ended_at"]
            for first, second in pairwise(polls)
            if _ended_between(first, since, until) and first["outcome"] == "empty"
        ]
    return figures


def _ended_between(poll: dict[str, Any], since: float, until: float) -> bool:
    return poll["ended_at"] is not None and since <= poll["ended_at"] < until
