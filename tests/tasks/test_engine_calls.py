"""A worker of the operator's own, in a process of its own, answers turns that the bridge sends it as tasks."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import Celery

from tests.engines.asking import question
from wechat_bridge.engines.task import TaskEngine
from wechat_bridge.errors import EngineRefused, EngineUnavailable
from wechat_bridge.model.engine import TaskEngineSettings
from wechat_bridge.tasks.engine_calls import CeleryCalls

SHOP = """
import time

from wechat_bridge.errors import EngineRefused
from wechat_bridge.tasks.own_app import engine_app

app = engine_app("shop", queue="shop")


@app.task(name="shop.answer")
def answer(turn):
    text = turn["text"]
    if text == "nothing":
        return None
    if text == "refuse":
        raise EngineRefused("closed on Sundays, key sk-abcdefghijkl")
    if text == "fail":
        raise KeyError("stock")
    if text == "sleep":
        time.sleep(3)
    return {"text": f"You said: {text}"}
"""


@pytest.fixture(scope="module")
def worker(urls: tuple[str, str], repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A running worker of the shop."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "shop.py").write_text(SHOP)
    environment = {**os.environ, "PYTHONPATH": f"{repository}{os.pathsep}{folder}", "REDIS_URL": urls[0]}
    command = [sys.executable, "-m", "celery", "-A", "shop", "worker", "-P", "threads", "-c", "2", "-l", "WARNING"]
    process = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL)
    yield
    process.terminate()
    process.wait(20)


@pytest.fixture
def shop(app: Celery, worker: None) -> TaskEngine:
    """The engine whose answers the shop gives."""
    return engine(app)


def engine(app: Celery, queue: str = "shop") -> TaskEngine:
    settings = TaskEngineSettings(kind="task", task="shop.answer", queue=queue)
    return TaskEngine("shop", settings, CeleryCalls(app))


def test_what_the_task_returns_is_the_answer(shop: TaskEngine) -> None:
    answer = shop.answer(question("你好", deadline_seconds=30))
    assert (answer.text, answer.model) == ("You said: 你好", "shop.answer")


def test_a_task_that_returns_nothing_is_silent(shop: TaskEngine) -> None:
    assert shop.answer(question("nothing", deadline_seconds=30)).text == ""


def test_a_task_may_refuse_for_good(shop: TaskEngine) -> None:
    with pytest.raises(EngineRefused, match="closed on Sundays") as caught:
        shop.answer(question("refuse", deadline_seconds=30))
    assert "abcdefghijkl" not in str(caught.value)


def test_a_task_that_fails_otherwise_is_tried_again(shop: TaskEngine) -> None:
    with pytest.raises(EngineUnavailable, match=r"shop\.answer: KeyError: 'stock'"):
        shop.answer(question("fail", deadline_seconds=30))


def test_a_task_that_takes_too_long_is_left_at_the_deadline(shop: TaskEngine) -> None:
    shop.answer(question("warm", deadline_seconds=30))
    started = time.monotonic()
    with pytest.raises(EngineUnavailable, match="no result within"):
        shop.answer(question("sleep", deadline_seconds=0.5))
    assert time.monotonic() - started < 2


def test_a_queue_that_nobody_reads_is_said_to_be_one(app: Celery) -> None:
    with pytest.raises(EngineUnavailable, match=r"from queue nobody; does a worker read it"):
        engine(app, "nobody").answer(question(deadline_seconds=0.3))


def test_redis_away_may_pass(app: Celery) -> None:
    away = Celery("away", broker="redis://127.0.0.1:1/0", backend="redis://127.0.0.1:1/0", set_as_current=False)
    away.conf.task_publish_retry = False
    away.conf.broker_connection_timeout = 1
    with pytest.raises(EngineUnavailable, match="Redis"):
        engine(away).answer(question(deadline_seconds=5))
    away.close()
