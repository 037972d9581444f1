"""An engine that is away for longer than anybody retries, and one that takes few questions at once."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.support.system import System, wait_until
from tests.support.world import World
from wechat_bridge.model.turn import TurnState
from wechat_bridge.simulators.engine import EngineSimulator

pytestmark = [pytest.mark.story, pytest.mark.slow]

LIMIT = 2
ATTEMPTS = 4
"""Of one turn, with the settings as they come."""


class Counting(ThreadingHTTPServer):
    """A webhook that answers with the question after a second, and counts how many it answers at once."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.lock = threading.Lock()
        self.at_once = self.most_at_once = 0
        self.slow: dict[str, float] = {}
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def begin(self, text: str) -> float:
        """Count a question; return how long it takes."""
        with self.lock:
            self.asked.append(text)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            return self.slow.pop(text, 1.0)

    def end(self) -> None:
        """A question is answered, or its asker has gone."""
        with self.lock:
            self.at_once -= 1


class _Answer(BaseHTTPRequestHandler):
    server: Counting

    def do_POST(self) -> None:
        turn = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(self.server.begin(turn["text"]))
        self.server.end()
        body = json.dumps({"text": turn["text"]}).encode()
        try:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:
            return

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def gpt() -> Iterator[EngineSimulator]:
    """An engine that can be away."""
    with EngineSimulator() as running:
        yield running


@pytest.fixture(scope="module")
def narrow() -> Iterator[Counting]:
    """An engine that takes two questions at once."""
    server = Counting()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def pair(make_system: Callable[..., System], gpt: EngineSimulator, narrow: Counting) -> Iterator[System]:
    """A system with two reply workers and both engines; an hour of pauses takes seconds."""
    engines = {
        "gpt": {"kind": "openai", "base_url": f"{gpt.base_url}/v1", "model": "m", "history_turns": 0},
        "narrow": {"kind": "webhook", "url": narrow.url, "secret": "secret", "max_concurrency": LIMIT},
    }
    quick = {
        "WECHAT_BRIDGE_ENGINES": json.dumps(engines),
        "WECHAT_BRIDGE_BREAKER__OPEN_SECONDS": "0.1",
        "WECHAT_BRIDGE_BREAKER__OPEN_MOST_SECONDS": "0.2",
        "WECHAT_BRIDGE_POLL__EMPTY_POLL_DELAY_SECONDS": "2",
    }
    with make_system(**quick) as running:
        running.start_all(reply_threads=20)
        running.start("reply", "reply2", threads=20)
        running.wait_alive(5)
        yield running


def tries(gpt: EngineSimulator) -> Counter[str]:
    """How often each question was asked."""
    return Counter(call.body["messages"][-1]["content"] for call in gpt.calls)


def in_use(world: World, engine: str) -> int:
    """How many places of an engine are taken."""
    return world.bridge.gates.look({engine: LIMIT})[0].in_use


def test_an_engine_away_for_longer_than_all_retries_costs_nobody_their_answer(
    pair: System, gpt: EngineSimulator
) -> None:
    worlds = pair.channels(3, engine="gpt")
    people = [(world, f"p{number}") for world in worlds for number in range(3)]
    gpt.script(status=500, times=None)
    said = {(world.share_id, name): [f"{world.share_id} {name} {number}" for number in range(3)]
            for world, name in people}  # fmt: skip
    for number in range(3):
        for world, name in people:
            pair.control.say(world.bot_id, world.user(name), said[world.share_id, name][number])
    wait_until(lambda: max(tries(gpt).values(), default=0) > 2 * ATTEMPTS, 60, "the outage outlasts every retry")
    assert all(pair.heard(world, name) == [] for world, name in people), "nobody got an apology"
    gpt.clear()
    back = time.monotonic()

    def heard() -> dict[tuple[str, str], list[str]]:
        return {(world.share_id, name): pair.heard(world, name) for world, name in people}

    wait_until(lambda: all(len(heard()[key]) >= 3 for key in said), 30, "everybody is answered")
    assert time.monotonic() - back < 25
    assert heard() == said
    assert set(tries(gpt).values()) == {1}, "each question was answered at the first try"
    share_ids = [world.share_id for world in worlds]
    assert worlds[0].bridge.dead_letters.collection.count_documents({"share_id": {"$in": share_ids}}) == 0


def test_ten_people_at_once_are_asked_two_by_two_on_two_workers(pair: System, narrow: Counting) -> None:
    worlds = pair.channels(10, engine="narrow")
    pair.wait_polling(worlds)
    narrow.most_at_once = 0
    pair.say(worlds, "hello")
    pair.assert_heard(worlds, ["hello"], 30)
    assert narrow.most_at_once == LIMIT
    assert narrow.asked.count("hello") == 10
    assert in_use(worlds[0], "narrow") == 0


def test_the_places_of_a_killed_worker_come_back(pair: System, narrow: Counting) -> None:
    worlds = pair.channels(6, engine="narrow")
    pair.wait_polling(worlds)
    pair.wait_steady()
    narrow.slow = {"slow 0": 30.0, "slow 1": 30.0}
    for number in range(2):
        pair.control.say(worlds[number].bot_id, worlds[number].user(), f"slow {number}")
    wait_until(lambda: {"slow 0", "slow 1"} <= set(narrow.asked), 15, "both places are taken")
    pair.say(worlds[2:], "quick")
    wait_until(lambda: worlds[0].bridge.gates.look({"narrow": LIMIT})[0].waiting == 4, 15, "the others wait")
    held = worlds[0].bridge.turns.open_of(worlds[0].chat())
    assert held is not None
    assert held.state is TurnState.GENERATING
    pair.kill(pair.name_of(str(held.owner)))
    killed_at = time.monotonic()
    wait_until(lambda: "quick" in narrow.asked, 20, "a place is free again")
    assert time.monotonic() - killed_at < 17, "8 s until it is dead, 5 s until the next sweep, and a little"
    pair.assert_heard(worlds[2:], ["quick"], 25)
    pair.assert_heard(worlds[:1], ["slow 0"], 25)
