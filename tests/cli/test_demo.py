"""`wechat-bridge demo`: one message through the real workers, and what the ledger knows about it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from celery import Celery

from tests.cli.conftest import COMMAND, Environment, runner
from tests.local.processes import descendants, is_running
from tests.support.system import wait_until
from wechat_bridge.wiring import Wired

pytestmark = pytest.mark.story


@contextmanager
def task_ids_of(redis_url: str, task: str) -> Iterator[list[str]]:
    """Listen to Celery's events; yields the list that the ids of tasks of this name are appended to."""
    app = Celery("listener")
    app.config_from_object("celeryconfig")
    ids: list[str] = []

    def received(event: dict[str, Any]) -> None:
        if event["name"] == task:
            ids.append(event["uuid"])

    with app.connection_for_read(redis_url) as connection:
        receiver = app.events.Receiver(connection, handlers={"task-received": received})
        thread = threading.Thread(target=lambda: list(receiver.itercapture(limit=None, timeout=None, wakeup=False)))
        thread.start()
        yield ids
        receiver.should_stop = True
        thread.join(10)
    app.close()


def leftovers(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def test_one_message_is_answered_on_stdout_and_nothing_is_left_behind(
    bare_environment: Environment, tmp_path: Path
) -> None:
    temporary, cwd = tmp_path / "tmp", tmp_path / "cwd"
    temporary.mkdir()
    cwd.mkdir()
    done = runner(bare_environment, cwd)("demo", "--once", "hello 你好", TMPDIR=str(temporary))
    assert (done.returncode, done.stdout) == (0, "hello 你好\n"), done.stderr
    assert "MongoDB answers" in done.stderr
    assert re.search(r"answered after \d\.\d\d s", done.stderr)
    assert leftovers(temporary) == []
    assert leftovers(cwd) == []


@pytest.mark.slow
def test_the_ledger_knows_the_message_the_turn_and_the_celery_task_behind_the_answer(
    environment: Environment, urls: tuple[str, str], wired: Wired, tmp_path: Path
) -> None:
    with task_ids_of(urls[0], "wechat_bridge.generate_reply") as replies:
        done = runner(environment, tmp_path)("demo", "--once", "who are you?")
        assert (done.returncode, done.stdout) == (0, "who are you?\n"), done.stderr
        wait_until(lambda: replies, 5, "Celery's event of the reply task arrives")
    bridge = wired.bridge
    [row] = bridge.inbox.collection.find({"source": "poll"})
    turn = bridge.turns.get(row["turn_id"])
    assert turn is not None
    message_id = row["_id"].removeprefix("demo:")
    assert row["state"] == "done"
    assert turn.id == f"wechat-reply:demo:{message_id}"
    assert (turn.state, turn.open, turn.generate_attempts) == ("sent", False, 1)
    assert [chunk.state for chunk in turn.chunks] == ["accepted"]
    assert replies == [turn.id]


@pytest.mark.slow
def test_a_ledger_that_stays_is_left_with_the_demo_channel_switched_off(wired: Wired) -> None:
    channel = wired.bridge.channels.get("demo")
    assert channel is not None
    assert channel.enabled is False


@pytest.mark.slow
def test_a_member_of_a_company_is_answered_through_callbacks_and_the_app(
    environment: Environment, wired: Wired, tmp_path: Path
) -> None:
    for text in ("你好 WeCom", "again"):  # the second demo finds the channel of the first in the ledger
        done = runner(environment, tmp_path)("demo", "--channel", "wecom", "--once", text)
        assert (done.returncode, done.stdout) == (0, f"{text}\n"), done.stderr
        assert "WeCom takes the callback URL http://127.0.0.1:" in done.stderr
    bridge = wired.bridge
    rows = list(bridge.inbox.collection.find({"share_id": "demo-wecom"}))
    turns = [bridge.turns.get(row["turn_id"]) for row in rows]
    assert {(row["source"], row["state"]) for row in rows} == {("callback", "done")}
    assert [turn is not None and (turn.state, turn.open) for turn in turns] == [("sent", False)] * 2
    channel = bridge.channels.get("demo-wecom")
    assert channel is not None
    assert channel.enabled is False


class Conversation:
    """A demo whose input and output are the test's."""

    def __init__(self, environment: Environment, folder: Path) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [*COMMAND, "demo"], env=environment, cwd=folder, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL,
            text=True,
        )  # fmt: skip

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def close(self) -> None:
        """Kill it if it still runs; close the pipes."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def conversation(bare_environment: Environment, tmp_path: Path) -> Iterator[Conversation]:
    running = Conversation(bare_environment | {"TMPDIR": str(tmp_path)}, tmp_path)
    yield running
    running.close()


@pytest.mark.slow
def test_a_conversation_shows_answers_with_their_time_until_ctrl_c_ends_everything(
    conversation: Conversation, tmp_path: Path
) -> None:
    for text in ("first", "second"):
        conversation.write(text)
        assert re.fullmatch(rf"bot \(\d+\.\d\d s\)> {text}\n", conversation.read())
    children = descendants(conversation.process.pid)
    assert len(children) == 9  # the eight of `up`, and the simulated WeChat
    bystander = subprocess.Popen(["sleep", "60"])
    begin = time.monotonic()
    os.kill(conversation.process.pid, signal.SIGINT)
    try:
        assert conversation.process.wait(20) == 0
        assert time.monotonic() - begin < 15
        assert [pid for pid in children if is_running(pid)] == []
        assert bystander.poll() is None
        assert leftovers(tmp_path) == []
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.slow
def test_a_demo_that_cannot_start_says_why_and_keeps_its_logs(bare_environment: Environment, tmp_path: Path) -> None:
    nowhere = {"MONGODB_URL": "mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=200"}
    run = runner(bare_environment | nowhere, tmp_path)
    done = run("demo", "--once", "hello", TMPDIR=str(tmp_path), WECHAT_BRIDGE_START_WAIT_SECONDS="1")
    assert (done.returncode, done.stdout) == (1, "")
    assert "error: MongoDB at 127.0.0.1:9 did not answer" in done.stderr
    [folder] = leftovers(tmp_path)
    assert f"the logs are in {folder}/logs" in done.stderr
    assert (folder / "logs" / "poll.log").exists()
