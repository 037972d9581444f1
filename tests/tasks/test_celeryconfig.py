"""Celery's options: every task in a queue that exists, every queue apart from the others, nothing connected yet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest
from celery import Celery

import celeryconfig
from tests.support.world import World
from wechat_bridge.tasks import access, customer_service, events, maintenance, management, polling, replying
from wechat_bridge.tasks.base import BridgeTask, ManagementTask

MODULES = (access, customer_service, events, maintenance, management, polling, replying)
MANAGEMENT = {"relogin", "submit_verify_code", "logout", "enable", "disable", "probe", "replay_dead_letter"} | {
    "access_list", "access_policy", "access_limit", "access_allow", "access_deny", "access_forget", "access_approve",
    "access_mute", "access_unmute", "access_human", "access_bot", "send_notice", "ingest_event",
}  # fmt: skip

SILENT = ("poll_channel", "seed_poll_chains", "seed_customer_service", "sweep", "sweep_events", "follow_login")


@pytest.fixture
def app(world: World) -> Celery:
    """An application with these options."""
    return world.wired.celery


def ours(app: Celery) -> dict[str, BridgeTask]:
    """The tasks of the bridge."""
    return {name: task for name, task in app.tasks.items() if name.startswith("wechat_bridge.")}


def test_every_task_has_a_route_to_a_queue_that_exists(app: Celery) -> None:
    routes = celeryconfig.task_routes
    assert set(ours(app)) == set(routes)
    assert {route["queue"] for route in routes.values()} <= set(celeryconfig.QUEUES)
    for name in ours(app):
        options = app.amqp.router.route({}, name)
        assert options["queue"].name == routes[name]["queue"]


def test_every_module_with_tasks_is_imported_by_a_worker(app: Celery) -> None:
    folder = Path(polling.__file__).parent
    with_tasks = {
        f"wechat_bridge.tasks.{path.stem}" for path in folder.glob("*.py") if "@shared_task" in path.read_text()
    }
    assert with_tasks == set(celeryconfig.imports) == {module.__name__ for module in MODULES}


def test_every_queue_has_an_exchange_and_a_key_of_its_own(app: Celery) -> None:
    """Two queues bound to one key would each get every message."""
    queues = celeryconfig.task_queues
    assert len({queue.name for queue in queues}) == len(queues) == len(celeryconfig.QUEUES)
    assert len({queue.exchange.name for queue in queues}) == len(queues)
    assert len({queue.routing_key for queue in queues}) == len(queues)


def test_a_typo_in_a_route_makes_no_queue(app: Celery) -> None:
    assert not app.conf.task_create_missing_queues
    assert app.conf.task_default_queue in celeryconfig.QUEUES


def test_every_task_acknowledges_early_and_keeps_no_result_unless_an_operator_waits_for_it(app: Celery) -> None:
    for name, task in ours(app).items():
        is_management = name.removeprefix("wechat_bridge.") in MANAGEMENT
        assert isinstance(task, ManagementTask if is_management else BridgeTask)
        assert (task.acks_late, task.ignore_result, task.max_retries) == (False, not is_management, None)
    assert app.conf.task_ignore_result
    assert app.conf.result_expires == 600
    assert app.conf.worker_disable_prefetch


def test_management_tasks_have_a_queue_of_their_own_with_the_steps_of_logins(app: Celery) -> None:
    routed = {name.removeprefix("wechat_bridge.") for name, route in celeryconfig.task_routes.items()
              if route["queue"] == "management"}  # fmt: skip
    assert routed == MANAGEMENT - {"ingest_event"} | {"follow_login"}


def test_nothing_that_is_rung_asks_for_a_result(world: World) -> None:
    world.bridge.doorbells.ring_login(world.share_id, "l", 0)
    channels = [str(name) for name in cast("list[str]", world.wired.redis.pubsub_channels())]
    assert not [name for name in channels if "celery-task-meta" in name]


def test_what_polls_and_seeds_sends_no_events(app: Celery) -> None:
    silent = {name for name, task in ours(app).items() if not task.send_events}
    assert silent == {f"wechat_bridge.{name}" for name in SILENT}


def test_beat_entries_exist_expire_and_are_as_often_as_promised(app: Celery) -> None:
    entries = celeryconfig.beat_schedule.values()
    assert {entry["task"] for entry in entries} <= set(ours(app))
    assert all(0 < entry["options"]["expires"] <= entry["schedule"] for entry in entries)
    assert {entry["task"]: entry["schedule"] for entry in entries} == {
        "wechat_bridge.seed_poll_chains": 2.0,
        "wechat_bridge.seed_customer_service": 5.0,
        "wechat_bridge.sweep": 5.0,
        "wechat_bridge.sweep_events": 5.0,
    }


def test_results_go_over_tls_where_doorbells_do(repository: Path) -> None:
    code = "import wechat_bridge.app as a; print(a.app.backend.connparams['ssl_cert_reqs'].name)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, timeout=60, check=False,
        env=os.environ | {"REDIS_URL": "rediss://redis.example:6380/0"},
    )  # fmt: skip
    assert (done.stdout.strip(), done.returncode) == ("CERT_REQUIRED", 0), done.stderr


IMPORTING = """
import socket

def refuse(*_, **__):
    raise SystemExit("a connection was opened")

socket.socket.connect = socket.socket.connect_ex = refuse
socket.create_connection = socket.getaddrinfo = refuse
import celeryconfig
import wechat_bridge.app
assert len(wechat_bridge.app.app.tasks) > 7
print("quiet")
"""


def test_importing_opens_no_connection(repository: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING], cwd=repository, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("quiet", 0), done.stderr
