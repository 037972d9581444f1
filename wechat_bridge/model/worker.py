"""A process of the bridge, as the ledger sees it."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel


class Worker(BaseModel):
    """One document of the ``workers`` collection; ``id`` is the owner name, ``slots`` its number of task threads.

    ``media_on_disk`` is true where it keeps media in a folder of its host.
    """

    id: str
    kind: str
    queues: tuple[str, ...] = ()
    slots: int = 0
    seen_at: datetime
    started_at: datetime
    version: str
    media_on_disk: bool = False
