"""A process of the bridge, as the ledger sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel


class Worker(BaseModel):
    """One document of the ``workers`` collection; ``id`` is the owner name, ``slots`` its number of task threads.

    ``media_on_disk`` is true where it keeps media in a folder of its host. ``configuration`` is the version that is in
    force there.
    """

    id: str
    kind: str
    queues: tuple[str, ...] = ()
    slots: int = 0
    seen_at: datetime
    started_at: datetime
    version: str
    media_on_disk: bool = False
    configuration: int = 0


@dataclass(frozen=True)
class Judgement:
    """Which owners are dead, and in how many seconds the next one is, unless it is seen by then (None: none soon)."""

    dead: Sequence[str] = ()
    next_death_seconds: float | None = None
