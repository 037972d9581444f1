"""The doorbells of one channel that wait in Redis."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any, cast

from tests.support.world import World
from wechat_bridge.store import redis_keys


@dataclass(frozen=True)
class Doorbell:
    """One message of a queue: the task, its id and arguments, and when it is due and gone (ISO 8601), if at all."""

    task: str
    task_id: str
    args: list[Any]
    eta: str | None
    expires: str | None
    retries: int


def taken(world: World, queue: str) -> list[Doorbell]:
    """Take the doorbells of a world's channel from a queue, oldest first."""
    found: list[Doorbell] = []
    for text in cast("list[str]", world.wired.redis.lrange(redis_keys.queue(queue), 0, -1)):
        doorbell = _read(text)
        if world.share_id in _words(doorbell):
            world.wired.redis.lrem(redis_keys.queue(queue), 1, text)
            found.insert(0, doorbell)  # Celery pushes on the left and pops on the right
    return found


def emptied(world: World, queue: str) -> list[Doorbell]:
    """Take all doorbells from a queue, newest first."""
    key = redis_keys.queue(queue)
    found = [_read(text) for text in cast("list[str]", world.wired.redis.lrange(key, 0, -1))]
    world.wired.redis.delete(key)
    return found


def _read(text: str) -> Doorbell:
    message = json.loads(text)
    headers = message["headers"]
    args = json.loads(base64.b64decode(message["body"]))[0]
    names = ("task", "id", "eta", "expires", "retries")
    task, task_id, eta, expires, retries = (headers.get(name) for name in names)
    return Doorbell(str(task).removeprefix("wechat_bridge."), task_id, args, eta, expires, retries)


def _words(doorbell: Doorbell) -> list[str]:
    """Everything in the arguments that may be a share_id."""
    return str(doorbell.args[0]).replace(":", " ").replace("_", " ").split()
