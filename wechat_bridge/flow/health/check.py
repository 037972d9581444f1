"""One check of the health report."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

MOST_NAMES = 10
"""A detail names this many things; the rest is counted."""


class Check(BaseModel):
    """One thing that was looked at. ``detail`` says how it stands and, when it is not well, what to do.

    A ``warning`` wants a person's attention, but does not stop the messages of healthy channels.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    ok: bool
    detail: str
    warning: bool = False


def listed(names: Sequence[str]) -> str:
    """Join names, the first ones only."""
    more = len(names) - MOST_NAMES
    return "; ".join(names[:MOST_NAMES]) + (f"; and {more} more" if more > 0 else "")
