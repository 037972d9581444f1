"""Thousands of messages wait while something is down: whether memory, queues and Redis keys stay bounded."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from datetime import datetime

from pymongo import MongoClient
from redis.exceptions import RedisError

from tests.benchmarks import stage, usage
from tests.benchmarks.accounts import add_channels, create_bots
from tests.benchmarks.report import json_line, progress, table
from wechat_bridge.flow.roles import QUEUES
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.model.message import InboundMessage, InboxRow, Item, ItemKind, inbox_row
from wechat_bridge.store import redis_keys
from wechat_bridge.store.ledger import Document, to_document

CHANNELS = 10
BATCH = 200
LOOK_SECONDS = 15.0


@dataclass(frozen=True)
class Look:
    """The state at one moment: minutes since the start, MB of each process, doorbells, keys and MB of Redis."""

    minutes: float
    resident_mb: dict[str, float]
    doorbells: int
    keys: int
    redis_mb: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    stage.add_arguments(parser)
    parser.add_argument("--down", choices=("engine", "redis", "mongo"), required=True)
    parser.add_argument("--messages", type=int, default=20_000, help="waiting, each of a person of its own")
    parser.add_argument("--minutes", type=float, default=60.0)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    with stage.stage(options) as running:
        channels = add_channels(running.system, create_bots(running.control, CHANNELS), "down")
        running.system.start_all(poll_threads=CHANNELS + 10, reply_threads=100)
        time.sleep(LOOK_SECONDS)
        looks = [_look(running, 0.0)]
        _fill(running, list(channels), options.messages)
        progress(f"{options.messages} messages wait; down: {options.down}")
        _stop(running, options.down)
        began = time.monotonic()
        while (minutes := (time.monotonic() - began) / 60) < options.minutes:
            time.sleep(LOOK_SECONDS)
            looks.append(_look(running, minutes))
    _print(options, looks)


def _fill(running: stage.Stage, share_ids: list[str], count: int) -> None:
    """Store messages and their due conversations as polls would have, in few writes."""
    clock = running.system.wired.bridge.clock
    # The driver's own patience: workers take up what is stored here while it is being stored.
    client: MongoClient[Document] = MongoClient(running.mongo.database_url("benchmark"), tz_aware=True)
    ledger = client.get_default_database()
    for first in range(0, count, BATCH):
        numbers = range(first, min(first + BATCH, count))
        rows = [_row(clock.now(), share_ids[number % len(share_ids)], number) for number in numbers]
        due = clock.now()
        ledger["inbox"].insert_many([to_document(row) for row in rows])
        ledger["conversations"].insert_many([
            to_document(
                Conversation(
                    id=row.chat_id, share_id=row.share_id, user_id=row.user_id, rev=1, waiting=1, flush_at=due,
                    flush_deadline=due, ring_at=due, context_token=row.context_token, context_epoch=1,
                    context_at=due, context_sent_at=due, sends_left=10,
                )
            )
            for row in rows
        ])  # fmt: skip
    client.close()


def _row(now: datetime, share_id: str, number: int) -> InboxRow:
    message = InboundMessage(
        message_id=str(7_461_203_398_120_011_000 + number),
        user_id=f"person-{number}@im.wechat",
        items=(Item(kind=ItemKind.TEXT, text=f"message {number}"),),
        context_token=f"token-{number}",
        raw="{}",
    )
    return inbox_row(message, share_id, 1, now, "poll")


def _stop(running: stage.Stage, down: str) -> None:
    if down == "redis":
        running.redis.stop()
    elif down == "mongo":
        running.mongo.kill()


def _look(running: stage.Stage, minutes: float) -> Look:
    resident = {name: usage.resident_mb(child.pid) for name, child in running.system.processes.items() if child.alive}
    client = running.system.wired.redis
    try:
        doorbells = sum(int(str(client.llen(redis_keys.queue(queue)))) for queue in QUEUES)
        memory = client.info("memory")["used_memory"] / 1e6
        return Look(minutes, resident, doorbells, int(str(client.dbsize())), memory)
    except RedisError:
        return Look(minutes, resident, 0, 0, 0.0)


def _print(options: argparse.Namespace, looks: list[Look]) -> None:
    names = list(looks[0].resident_mb)
    shown = looks[:: max(1, len(looks) // 20)]
    rows = [
        [
            look.minutes,
            *(look.resident_mb.get(name, "ended") for name in names),
            look.doorbells,
            look.keys,
            look.redis_mb,
        ]
        for look in shown
    ]
    title = f"{options.messages} messages wait, {options.down} down: MB of each process, doorbells and keys in Redis"
    table(title, ["minutes", *names, "doorbells", "keys", "Redis MB"], rows)
    most = {name: round(max(look.resident_mb.get(name, 0.0) for look in looks), 1) for name in names}
    before = {name: round(looks[0].resident_mb[name], 1) for name in names}
    json_line("backlog", down=options.down, messages=options.messages, minutes=options.minutes, before_mb=before,
              most_mb=most, most_doorbells=max(look.doorbells for look in looks),
              most_keys=max(look.keys for look in looks))  # fmt: skip
