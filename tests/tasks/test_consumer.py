"""What a real worker refuses is kept as a dead letter, and the worker goes on with the next doorbell."""

from __future__ import annotations

import base64
import json
import secrets
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.system import System, wait_until
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.store import redis_keys

pytestmark = pytest.mark.story

TASK = "wechat_bridge.flush_conversation"
PICKLE = "application/x-python-serialize"


@dataclass(frozen=True)
class Poison:
    """A message as somebody else might write it into a queue, and what a person should read about it."""

    reason: str
    body: bytes = b'[["nobody"], {}, {"callbacks": null, "errbacks": null, "chain": null, "chord": null}]'
    task: str | None = TASK
    content_type: str = "application/json"
    headers: tuple[tuple[str, Any], ...] = ()


POISONS = {
    "unknown task": Poison("this version has no such task", task="wechat_bridge.of_next_year"),
    "refused content type": Poison("it is no valid task message", b"cos\nsystem\n", content_type=PICKLE),
    "undecodable body": Poison("the body cannot be decoded", b'[["nobo'),
    "bytes that are no text": Poison("the body cannot be decoded", b"\xff\xfe\x00[[]]"),
    "a time that is none": Poison("it is no valid task message", headers=(("eta", "tomorrow"),)),
    "no task": Poison("it names no task", b'{"hello": "world"}', task=None),
    "no task, refused content type": Poison("the body cannot be decoded", b"cos\nsystem\n", None, PICKLE),
}


def push(system: System, poison: Poison, marker: str) -> None:
    """Write a message into the inbox queue."""
    headers = {"lang": "py", "id": marker, "root_id": marker, "argsrepr": "['password=hunter2x']"}
    headers |= {"task": poison.task} if poison.task else {}
    envelope = {
        "body": base64.b64encode(poison.body).decode(),
        "content-encoding": "utf-8",
        "content-type": poison.content_type,
        "headers": headers | dict(poison.headers),
        "properties": {
            "delivery_tag": secrets.token_hex(8), "delivery_mode": 2, "body_encoding": "base64", "priority": 0,
            "correlation_id": marker, "delivery_info": {"exchange": "", "routing_key": "inbox"},
        },
    }  # fmt: skip
    system.wired.redis.lpush(redis_keys.queue("inbox"), json.dumps(envelope))


def letters(system: System, marker: str) -> list[DeadLetter]:
    """The letters of a message."""
    return [each for each in system.wired.bridge.dead_letters.all_waiting() if each.trace_id == marker]


@pytest.mark.parametrize("name", POISONS)
def test_a_message_that_no_task_takes_is_a_dead_letter(system: System, name: str) -> None:
    poison, marker = POISONS[name], secrets.token_hex(8)
    push(system, poison, marker)
    wait_until(lambda: letters(system, marker), 15, f"{name} is kept; see {system.directory}")
    [letter] = letters(system, marker)
    assert (letter.stage, letter.event_type, letter.attempts) == ("broker", "doorbell", 1)
    assert letter.error.startswith(poison.reason)
    original = letter.original[0]
    assert (original["queue"], original["task_id"], original["task"]) == ("inbox", marker, poison.task or "")
    assert original["content_type"] == poison.content_type
    assert "hunter2x" not in str(letter)
    assert original["raw"] == poison.body.decode("utf-8", "backslashreplace")


def test_the_same_message_again_is_the_same_letter(system: System) -> None:
    poison = Poison("the body cannot be decoded", b"[[twice")
    push(system, poison, "first")
    wait_until(lambda: letters(system, "first"), 15, "it is kept")
    [before] = letters(system, "first")
    push(system, poison, "second")
    wait_until(lambda: letters(system, "first")[0].last_failure_at > before.last_failure_at, 15, "it is noted")
    assert letters(system, "second") == []


def test_the_worker_goes_on_with_the_next_doorbell(system: System) -> None:
    world = system.channel()
    push(system, POISONS["undecodable body"], "on")
    push(system, POISONS["unknown task"], "and on")
    world.receive(world.text("still there?"))
    wait_until(lambda: world.delivered() == ["still there?"], 15, "the message is answered")
    assert all(process.alive for process in system.processes.values())


def test_a_task_that_fails_in_a_way_nobody_expected_is_a_dead_letter(system: System) -> None:
    system.wired.bridge.conversations.collection.insert_one({"_id": "spoilt", "share_id": "s", "user_id": 7})
    system.wired.celery.send_task(TASK, ["spoilt"], task_id="unexpected")
    found = wait_until(lambda: letters(system, "unexpected"), 15, "the failure is kept")
    assert (found[0].id, found[0].stage, found[0].original[0]["task"]) == (f"task:{TASK}:spoilt", "task", TASK)
    assert found[0].error == "conversations spoilt: user_id does not fit"
    assert "Traceback" in found[0].traceback


def test_a_doorbell_that_fails_before_its_task_is_called_is_a_dead_letter(system: System) -> None:
    push(system, Poison("", b'[{"a": 1}, 5, {}]'), "outside")
    found = wait_until(lambda: letters(system, "outside"), 15, "the failure is kept")
    assert (found[0].stage, found[0].error_class) == ("task", "InvalidTaskError")


def test_a_doorbell_with_the_wrong_arguments_is_a_dead_letter(system: System) -> None:
    system.wired.celery.send_task("wechat_bridge.generate_reply", [], task_id="no-arguments")
    found = wait_until(lambda: letters(system, "no-arguments"), 15, "the failure is kept")
    assert found[0].error_class == "TypeError"
