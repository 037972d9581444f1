"""A Celery task of one's own: the turn goes out as its only argument, what it returns is the answer.

::

    from wechat_bridge.tasks.own_app import engine_app

    app = engine_app("shop", queue="shop")

    @app.task(name="shop.answer")
    def answer(turn: dict) -> dict | str | None:
        return {"text": f"You said: {turn['text']}"}

Run it with ``celery -A shop worker``. See ``turn_json`` for both shapes. Raising ``wechat_bridge.errors.EngineRefused``
gives the turn up; whatever else it raises is tried again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from wechat_bridge.engines.base import Answer, Attachment, Question
from wechat_bridge.engines.failures import Failures
from wechat_bridge.engines.turn_json import answer_of, turn_json
from wechat_bridge.errors import EngineRefused, EngineUnavailable
from wechat_bridge.model.engine import TaskEngineSettings


class TaskCaller(Protocol):
    """Runs a task elsewhere."""

    def __call__(self, task: str, queue: str, turn: Mapping[str, Any], deadline_seconds: float) -> Any:
        """Return what the task returns. Raises EngineUnavailable and EngineRefused."""
        ...


class TaskEngine:
    """Calls the task through the same Redis; its worker is somebody else's process."""

    def __init__(self, name: str, settings: TaskEngineSettings, call: TaskCaller) -> None:
        self.name = name
        self._settings = settings
        self._call = call
        self._failures = Failures(name, "")

    def answer(self, question: Question) -> Answer:
        """Return the answer. Raises EngineUnavailable and EngineRefused."""
        task, queue = self._settings.task, self._settings.queue
        turn = turn_json(question, self._settings.most_media_bytes)
        try:
            value = self._call(task, queue, turn, question.deadline_seconds)
        except EngineUnavailable as error:
            raise self._failures.unavailable(f"task {task}: {error}", error.retry_after_seconds) from None
        except EngineRefused as error:
            raise self._failures.refused(f"task {task}: {error}") from None
        return answer_of(value, self._failures, task)

    def needs_link(self, media: Attachment) -> bool:
        """Whether a medium is too large to go along as data."""
        return media.size > self._settings.most_media_bytes
