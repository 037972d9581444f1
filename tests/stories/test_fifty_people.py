"""Everybody gets their own answer, and nobody waits for somebody else's engine (field report 29, acceptance J8, K8).

One worker answers four turns at once.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import pytest

from tests.support.system import System, wait_until
from tests.support.world import World
from wechat_bridge.model import keys
from wechat_bridge.model.message import InboxRow
from wechat_bridge.model.turn import Turn

pytestmark = [pytest.mark.story, pytest.mark.slow]

THREADS = 4
PEOPLE = [f"person{number}" for number in range(50)]
SAMPLES = 15
MOST_LATER_SECONDS = 0.4
"""What two medians of fifteen may differ by on a busy machine; an engine in the way would make it tens of seconds."""


@pytest.fixture(scope="module")
def small(make_system: Callable[..., System]) -> Iterator[System]:
    """A running system whose reply worker has four threads."""
    with make_system() as running:
        running.start_all(reply_threads=THREADS)
        yield running


def asked_for(small: System, count: int = 1) -> list[World]:
    """Channels with the slow engine, whose WeChat takes only the token that belongs to the person."""
    worlds = small.channels(count, engine="slow")
    for world in worlds:
        small.control.set_options(world.bot_id, check_context_token=True)
    small.wait_polling(worlds)
    return worlds


def row_of(world: World, message_id: str) -> InboxRow | None:
    return world.bridge.inbox.get(keys.inbox_id(world.share_id, message_id))


def token_of(world: World, message_id: str) -> str:
    row = row_of(world, message_id)
    assert row is not None
    return row.context_token


def assert_own_answers(small: System, world: World, said: dict[str, dict[str, str]]) -> None:
    """Each answer went to who asked, with a context token of that person; ``said`` is by user and message id.

    Of a person's tokens the newest is used, which may be that of a later question.
    """
    sends = small.control.sends(world.bot_id)
    assert {send["refused"] for send in sends} == {""}
    tokens = {user: {token_of(world, number) for number in texts} for user, texts in said.items()}
    assert {send["user_id"] for send in sends if send["context_token"] not in tokens[send["user_id"]]} == set()
    assert {user: sorted(row["text"] for row in small.control.deliveries(user)) for user in said} == {
        user: sorted(texts.values()) for user, texts in said.items()
    }


def test_29_a_slow_answer_goes_to_who_asked_and_not_to_who_wrote_last(small: System) -> None:
    """u_ann asks (engine 5 s), u_bob asks 1 s later (engine 0.1 s)."""
    (world,) = asked_for(small)
    ann, bob = world.user("u_ann"), world.user("u_bob")
    said = {ann: dict(zip(small.control.say(world.bot_id, ann, "5 for ann"), ["for ann"], strict=True))}
    wait_until(lambda: "for ann" in small.engine_calls(), 15, "the engine works for ann")
    time.sleep(1)  # the report's second, in which ann's answer is being worked on
    said[bob] = dict(zip(small.control.say(world.bot_id, bob, "0.1 for bob"), ["for bob"], strict=True))
    wait_until(lambda: small.control.deliveries(bob), 3, "bob is answered while ann waits")
    assert small.control.deliveries(ann) == []
    wait_until(lambda: small.control.deliveries(ann), 10, "ann is answered")
    assert_own_answers(small, world, said)


def test_29_fifty_people_in_random_order_get_each_their_own_answers_one_after_the_other(small: System) -> None:
    """Everybody asks twice; the second question comes while the first one waits or is worked on (J8)."""
    worlds = asked_for(small, 5)
    said: dict[str, dict[str, dict[str, str]]] = {world.share_id: {} for world in worlds}
    crowd = [(worlds[number % 5], name) for number, name in enumerate(PEOPLE)]
    for wave in ("first", "second"):
        random.shuffle(crowd)
        for world, name in crowd:
            text = f"{name}'s {wave} question"
            if wave == "second":
                wait_until(partial(has_turn, world, name), 15, "the first question is a turn")
            (message_id,) = small.control.say(world.bot_id, world.user(name), f"{random.uniform(0, 0.3):.2f} {text}")
            said[world.share_id].setdefault(world.user(name), {})[message_id] = text
    texts = {text for people in said.values() for own in people.values() for text in own.values()}
    wait_until(lambda: sum(len(small.control.sends(world.bot_id)) for world in worlds) >= len(texts), 60, "all answers")
    for world in worlds:
        assert_own_answers(small, world, said[world.share_id])
    turns = [turn for world in worlds for turn in turns_of(world)]
    assert 2 <= most_at_once(turns) <= THREADS, "people are answered side by side, up to the worker's threads"
    for chat_id in {turn.chat_id for turn in turns}:
        own = sorted(working(turn) for turn in turns if turn.chat_id == chat_id)
        assert len(own) == 2
        assert all(ended <= began for (_, ended), (began, _) in pairwise(own)), chat_id


def has_turn(world: World, name: str) -> bool:
    return world.bridge.turns.collection.find_one({"chat_id": world.chat(name)}, {"_id": 1}) is not None


def turns_of(world: World) -> list[Turn]:
    rows = world.bridge.turns.collection.find({"share_id": world.share_id}, {"_id": 1})
    return [world.turn(row["_id"]) for row in rows]


def working(turn: Turn) -> tuple[float, float]:
    """When the engine of a turn worked."""
    return turn.times["generating"].timestamp(), turn.times["generated"].timestamp()


def most_at_once(turns: list[Turn]) -> int:
    spans = [working(turn) for turn in turns]
    return max(sum(began <= at < ended for began, ended in spans) for at, _ in spans)


def test_k8_an_engine_that_takes_a_minute_delays_no_intake(small: System) -> None:
    """The same person's and other people's messages are stored as soon as those of a channel that is idle."""
    busy, idle = asked_for(small, 2)
    small.control.say(busy.bot_id, busy.user("slow"), "60 slowly")
    wait_until(lambda: "slowly" in small.engine_calls(), 15, "the engine has begun its minute")
    began = time.monotonic()
    later: dict[str, list[float]] = {"same": [], "other": [], "idle": []}
    for number in range(SAMPLES):
        for kind, world, name in (("same", busy, "slow"), ("other", busy, f"x{number}"), ("idle", idle, "somebody")):
            later[kind].append(seconds_until_stored(small, world, name, f"0 {kind} {number}"))
    assert time.monotonic() - began < 50, "the engine was busy all the time"
    assert small.control.deliveries(busy.user("slow")) == []
    usual = statistics.median(later["idle"])
    found = {kind: round(statistics.median(seconds) - usual, 3) for kind, seconds in later.items()}
    assert max(found.values()) < MOST_LATER_SECONDS, found


def seconds_until_stored(small: System, world: World, name: str, text: str) -> float:
    """Say something; return after how many seconds it is a row of the inbox."""
    began = time.monotonic()
    (message_id,) = small.control.say(world.bot_id, world.user(name), text)
    wait_until(lambda: row_of(world, message_id), 20, f"{text} is stored")
    return time.monotonic() - began
