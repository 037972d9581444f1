"""Runs an operator's own task on the queue of their worker and waits for what it returns."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from celery import Celery, states
from celery.exceptions import BackendGetMetaError
from kombu.entity import Exchange, Queue
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from wechat_bridge.errors import EngineRefused, EngineUnavailable

FIRST_LOOK_SECONDS = 0.02
LONGEST_LOOK_SECONDS = 0.5
"""Looks at the result thin out to this. Celery's own way to wait shares one subscription between all threads."""

_REDIS_FAILURES = (OperationalError, BackendGetMetaError, RedisError, OSError)


class CeleryCalls:
    """Calls tasks by name, from any thread."""

    def __init__(self, app: Celery) -> None:
        self._app = app

    def __call__(self, task: str, queue: str, turn: Mapping[str, Any], deadline_seconds: float) -> Any:
        """Return what the task returns; a task nobody has begun by the deadline is dropped by its worker.

        Raises EngineUnavailable, and EngineRefused when the task raises an error of that name.
        """
        deadline = time.monotonic() + deadline_seconds
        task_id = f"engine:{turn['turn_id']}:{uuid4().hex}"
        where = Queue(queue, Exchange(queue), routing_key=queue)  # not one of ours, which the configuration lists
        try:
            # Told that the result is ignored, Celery opens no subscription for it; told by the header, the worker keeps
            # it. What people wrote is not shown in Flower.
            self._app.send_task(
                task, [dict(turn)], task_id=task_id, queue=where, expires=deadline_seconds, ignore_result=True,
                headers={"ignore_result": False}, argsrepr=f"[{turn['turn_id']}]",
            )  # fmt: skip
            return self._result(task_id, deadline, f"no result within {deadline_seconds:g} s from queue {queue}")
        except _REDIS_FAILURES as error:
            raise EngineUnavailable(f"Redis: {type(error).__name__}") from None

    def _result(self, task_id: str, deadline: float, too_late: str) -> Any:
        pause = FIRST_LOOK_SECONDS
        while True:
            meta = self._app.backend.get_task_meta(task_id, cache=False)
            if meta["status"] in states.READY_STATES:
                self._app.backend.forget(task_id)
                return _returned(meta)
            left = deadline - time.monotonic()
            if left <= 0:
                raise EngineUnavailable(f"{too_late}; does a worker read it, and does the task keep its result?")
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, LONGEST_LOOK_SECONDS)


def _returned(meta: Mapping[str, Any]) -> Any:
    result = meta["result"]
    if meta["status"] == states.SUCCESS:
        return result
    name = type(result).__name__
    said = f"{name}: {result}"
    raise EngineRefused(said) if name == EngineRefused.__name__ else EngineUnavailable(said)
