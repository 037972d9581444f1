from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from wechat_bridge.simulators.ilink import BotCredentials, IlinkControl, IlinkOptions, IlinkSimulatorProcess

from .conftest import USER

BOTS = 1_000


@pytest.fixture(scope="module")
def process() -> Iterator[IlinkSimulatorProcess]:
    with IlinkSimulatorProcess(IlinkOptions(hold_seconds=60)) as running:
        yield running


@pytest.fixture(scope="module")
def bots(process: IlinkSimulatorProcess) -> list[BotCredentials]:
    return [process.control.create_bot() for _ in range(BOTS)]


def cpu_seconds(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / 100


async def poll_until_a_message(session: aiohttp.ClientSession, bot: BotCredentials) -> tuple[str, float]:
    url, headers = f"{bot['base_url']}/ilink/bot/getupdates", {"Authorization": f"Bearer {bot['token']}"}
    async with session.post(url, json={"get_updates_buf": ""}, headers=headers) as response:
        body = json.loads(await response.read())
    return body["msgs"][0]["item_list"][0]["text_item"]["text"], time.time()


async def hold_and_wake(process: IlinkSimulatorProcess, bots: list[BotCredentials]) -> tuple[list[float], float]:
    """Open a poll per bot, let all idle, then write to every bot; gives each wake latency and the idle CPU seconds."""
    control = process.control
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        polls = [asyncio.ensure_future(poll_until_a_message(session, bot)) for bot in bots]
        assert await asyncio.to_thread(control.wait_for_open_polls, len(bots), "", 30.0) == len(bots)
        idle_from = cpu_seconds(process.pid)
        await asyncio.sleep(1.0)
        idle_cpu = cpu_seconds(process.pid) - idle_from
        latencies = [await write_and_wait(control, bot, poll) for bot, poll in zip(bots, polls, strict=True)]
    return latencies, idle_cpu


async def write_and_wait(control: IlinkControl, bot: BotCredentials, poll: asyncio.Future[tuple[str, float]]) -> float:
    written_at = time.time()
    await asyncio.to_thread(control.say, bot["bot_id"], USER, bot["bot_id"])
    text, received_at = await poll
    assert text == bot["bot_id"]
    return received_at - written_at


def test_a_thousand_polls_are_held_at_once_for_next_to_nothing_and_each_wakes_at_once(
    process: IlinkSimulatorProcess, bots: list[BotCredentials]
) -> None:
    latencies, idle_cpu_seconds = asyncio.run(hold_and_wake(process, bots))
    latencies.sort()
    assert idle_cpu_seconds < 0.1
    assert latencies[len(latencies) // 2] < 0.1
    assert latencies[-1] < 5
    stats = process.control.stats()
    assert (stats["max_open_polls"], stats["overlaps"], stats["lost_batches"]) == (BOTS, 0, 0)
    assert stats["messages_handed_out"] == BOTS
