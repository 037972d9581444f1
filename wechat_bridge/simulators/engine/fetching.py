"""Fetching what a question links to, as the engine's own server would."""

from __future__ import annotations

import aiohttp

from wechat_bridge.simulators.engine.world import Fetched, World

FETCH_SECONDS = 10.0


async def fetch_all(world: World, links: tuple[str, ...]) -> None:
    """Ask for each link's head, then for its bytes, and note both; what cannot be had is left out of the question."""
    if not links:
        return
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=FETCH_SECONDS)) as session:
        for link in links:
            world.note_fetched(await _fetch(session, link))


async def _fetch(session: aiohttp.ClientSession, link: str) -> Fetched:
    try:
        async with session.head(link) as head:
            promised = dict(head.headers)
        async with session.get(link) as answer:
            headers = {key.lower(): value for key, value in answer.headers.items()}
            return Fetched(link, answer.status, headers, await answer.read(), promised.get("Content-Length"))
    except (aiohttp.ClientError, TimeoutError):
        return Fetched(link, 0, {}, b"", None)
