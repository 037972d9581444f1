"""Ring poll chains that nobody living is about to continue."""

from __future__ import annotations

import random
import threading
from collections.abc import Collection, Sequence
from typing import Any

from wechat_bridge.flow.context import Bridge
from wechat_bridge.observe.logging import logger

log = logger(__name__)

MOST_PER_PASS = 2_000
MOST_WAITING = 5_000
"""More poll doorbells than this in the queue: workers are missing, and another doorbell helps nobody."""

SPREAD_SECONDS_PER_CHANNEL = 0.02
MOST_SPREAD_SECONDS = 4.0
MOST_SPREAD_AFTER_DEATH_SECONDS = 0.5
"""Channels seeded together are spread over a little while, or they would all poll in the same instant for ever. Not
over long when an owner died: its channels are to be back within 12 s."""

PASS_SECONDS = 2.0
"""How often beat rings for a pass (celeryconfig)."""

DEATH_SLACK_SECONDS = 0.05
"""A pass for a death comes just after it, not just before."""


class Seeder:
    """One per process. Two passes at once would free the same links twice, just when the ledger has most to do."""

    def __init__(self) -> None:
        self._running = threading.Lock()

    def seed(self, bridge: Bridge) -> None:
        """Do a pass after the one that runs; none if that takes so long that the next pass is due."""
        if self._running.acquire(timeout=PASS_SECONDS):
            try:
                seed_poll_chains(bridge)
            finally:
                self._running.release()


def seed_poll_chains(bridge: Bridge) -> int:
    """Ring every channel that is due and has no doorbell on its way; return how many were rung.

    Cheap when nothing is due: a few narrow index ranges, one MGET. Of two seeders at once one rings for a channel.
    """
    judgement = bridge.alive.judge()
    dead = judgement.dead
    _ring_for_death(bridge, judgement.next_death_seconds)
    _free_lost_links(bridge, dead)
    rows = bridge.channels.due_links(bridge.clock.now(), MOST_PER_PASS)
    generations = {row["_id"]: row["generation"] for row in _without_doorbell(bridge, rows, dead)}
    delays = _spread(generations, MOST_SPREAD_AFTER_DEATH_SECONDS if dead else MOST_SPREAD_SECONDS)
    ours = bridge.locks.announce_all(bridge.owner, delays, dead) if delays else []
    free_dead_locks(bridge, ours, dead)
    for share_id in ours:
        bridge.doorbells.ring_poll(share_id, generations[share_id], delays[share_id])
    if ours:
        log.info("chains_seeded", count=len(ours), dead_owners=len(dead))
    return len(ours)


def _ring_for_death(bridge: Bridge, seconds: float | None) -> None:
    """Look again just when an owner will be dead: beat's next pass may come 2 s later, of the 12 s that there are."""
    if seconds is not None and seconds < PASS_SECONDS:
        bridge.doorbells.ring_seed(seconds + DEATH_SLACK_SECONDS)


def _spread(share_ids: Collection[str], most_seconds: float) -> dict[str, float]:
    """Return a delay for each channel."""
    spread = min(most_seconds, SPREAD_SECONDS_PER_CHANNEL * (len(share_ids) - 1))
    return {share_id: random.uniform(0, spread) for share_id in share_ids}


def _free_lost_links(bridge: Bridge, dead: Sequence[str]) -> None:
    """Take links from dead owners, and from those past their deadline."""
    lost = bridge.channels.lost_links(bridge.clock.now(), dead, MOST_PER_PASS)
    if not lost:
        return
    bridge.locks.release_dead({row["_id"]: row["poll_owner"] for row in lost})
    bridge.channels.free_links(lost, bridge.clock.now())
    log.warning("links_freed", count=len(lost), owners=sorted({row["poll_owner"] for row in lost}))


def free_dead_locks(bridge: Bridge, share_ids: Sequence[str], dead: Sequence[str]) -> None:
    """Remove locks of owners that died before the ledger knew of their link."""
    if dead:
        holders = zip(share_ids, bridge.locks.holders(share_ids), strict=True)
        bridge.locks.release_dead({share_id: holder for share_id, holder in holders if holder and holder in dead})


def _without_doorbell(bridge: Bridge, rows: list[dict[str, Any]], dead: Sequence[str]) -> list[dict[str, Any]]:
    """Leave out channels whose doorbell is on its way.

    The marker of a dead owner counts for nothing, and a marker may have run out while its doorbell waits in a busy
    queue, so a queue that is not empty is looked into.
    """
    markers = bridge.locks.announced([row["_id"] for row in rows])
    left = [row for row, marker in zip(rows, markers, strict=True) if marker is None or marker in dead]
    if not left or not bridge.doorbells.waiting("poll"):
        return left
    queued = bridge.doorbells.waiting_polls(MOST_WAITING)
    return [] if queued is None else [row for row in left if row["_id"] not in queued]


def ring_channel(bridge: Bridge, share_id: str) -> None:
    """Ring one channel now instead of waiting for the next pass; nothing if a link is being served."""
    channel = bridge.channels.get(share_id)
    if channel is not None and channel.is_pollable and channel.poll_owner is None:
        bridge.locks.announce(share_id, bridge.owner, 0.0)
        bridge.doorbells.ring_poll(share_id, channel.generation)
