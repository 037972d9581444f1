"""A session ends while replies wait, and an operator logs the channel in again through Flower."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.support.system import System, wait_until
from tests.support.world import World
from wechat_bridge.local.child import Child
from wechat_bridge.local.ports import free_port
from wechat_bridge.model.channel import ChannelStatus, StatusReason
from wechat_bridge.simulators.ilink import IlinkSimulatorProcess

pytestmark = [pytest.mark.story, pytest.mark.slow]

PASSWORD = ("operator", "story-password")
PEOPLE = ("ann", "bob", "eve")


class Flower:
    """Celery's own view, with a password."""

    def __init__(self, system: System) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/api"
        command = [sys.executable, "-m", "celery", "-A", "wechat_bridge.app", "flower"]
        command += ["--address=127.0.0.1", f"--port={port}", f"--basic_auth={':'.join(PASSWORD)}"]
        log = system.directory / "flower.log"
        system.processes["flower"] = Child(command, log, cwd=system.directory, env=system.environment)
        self._session = requests.Session()
        self._session.trust_env = False
        wait_until(self._answers, 30, f"Flower answers; see {log}")

    def _answers(self) -> bool:
        try:
            return self.get("workers") is not None
        except requests.ConnectionError:
            return False

    def get(self, path: str, auth: tuple[str, str] | None = PASSWORD) -> Any:
        """Ask the API; None where it refuses."""
        answer = self._session.get(f"{self.url}/{path}", auth=auth, timeout=20)
        return answer.json() if answer.ok else None

    def call(self, task: str, *args: Any, auth: tuple[str, str] | None = PASSWORD) -> Any:
        """Call a task and wait for its end; None where the API refuses."""
        body = {"args": list(args)}
        url = f"{self.url}/task/async-apply/wechat_bridge.{task}"
        answer = self._session.post(url, json=body, auth=auth, timeout=20)
        return self._result(answer.json()["task-id"]) if answer.ok else None

    def _result(self, task_id: str) -> Any:
        """The result of a task once it has ended."""

        def ended() -> Any:
            found = self.get(f"task/result/{task_id}")
            return found if found and found["state"] in ("SUCCESS", "FAILURE") else None

        return wait_until(ended, 20, "the task ends")


@pytest.fixture(scope="module")
def system(
    urls: tuple[str, str], tmp_path_factory: pytest.TempPathFactory, simulated_wechat: IlinkSimulatorProcess
) -> Iterator[System]:
    """A running system that logs in at the simulated WeChat."""
    directory = tmp_path_factory.mktemp("system")
    environment = {
        "WECHAT_BRIDGE_LOGIN__API_BASE": simulated_wechat.base_url,
        "WECHAT_BRIDGE_POLL__EMPTY_POLL_DELAY_SECONDS": "1",
    }
    with System(urls, directory, simulated_wechat.control, simulated_wechat.base_url, **environment) as running:
        running.start_all()
        yield running


@pytest.fixture(scope="module")
def flower(system: System) -> Flower:
    """A Flower on this system."""
    return Flower(system)


def qrcode_of(result: dict[str, Any]) -> str:
    return str(result["link"].split("qrcode=")[1].split("&")[0])


def parked(world: World) -> list[str]:
    return list(world.bridge.turns.parked(world.share_id, "login_needed"))


def test_a_token_dies_with_three_replies_pending_and_a_relogin_through_flower_brings_them_out(
    system: System, flower: Flower
) -> None:
    world, bystander = system.channel(engine="slow"), system.channel()
    for name in PEOPLE:
        system.control.say(world.bot_id, world.user(name), f"3 for {name}")
    wait_until(lambda: len(system.engine_calls()) >= 3, 20, "the engine is asked three times")
    system.control.expire_token(world.bot_id)
    wait_until(lambda: len(parked(world)) == 3, 20, "three replies wait for a login")
    assert (world.channel.status, world.channel.status_reason) == (ChannelStatus.ERROR, StatusReason.LOGIN_NEEDED)

    asked = flower.call("relogin", world.share_id)
    assert asked["state"] == "SUCCESS", asked
    result = asked["result"]
    assert "█" in result["qr"]
    system.control.scan(qrcode_of(result))
    owner = world.channel.owner_user_id or ""
    bot = system.control.confirm(qrcode_of(result), owner)
    system.control.set_options(bot["ilink_bot_id"], check_context_token=False)
    wait_until(lambda: world.channel.status is ChannelStatus.ONLINE, 30, "the channel is online")
    for name in PEOPLE:
        wait_until(lambda name=name: world.delivered(name) == [f"for {name}"], 20, f"{name} hears the answer")  # type: ignore[misc]

    assert (world.channel.account_id, world.channel.epoch) == (bot["ilink_bot_id"], 2)
    assert len(system.engine_calls()) == 3, "the engine is not asked again"
    system.control.say(bot["ilink_bot_id"], world.user("ann"), "0 again")
    wait_until(lambda: world.delivered("ann") == ["for ann", "again"], 20, "the channel receives")
    assert bystander.channel.status is ChannelStatus.ONLINE
    secrets = (bot["bot_token"], qrcode_of(result))
    for name in ("ops", "poll", "reply", "flower"):
        assert not [secret for secret in secrets if secret in system.log_of(name)], name


def test_nobody_without_the_password_calls_a_task(system: System, flower: Flower) -> None:
    world = system.channel()
    for auth in (None, ("operator", "guess")):
        assert flower.call("logout", world.share_id, auth=auth) is None
    assert world.channel.sealed_account is not None


def test_what_flower_is_asked_wrongly_is_answered_in_one_line(flower: Flower) -> None:
    for args, said in ((["nobody"], "there is no channel nobody"), ([], "missing a required argument: 'share_id'")):
        answer = flower.call("relogin", *args)
        assert answer["state"] == "FAILURE"
        assert said in answer["result"]
        assert "\n" not in answer["result"]


def test_a_login_goes_on_when_the_worker_that_follows_it_is_killed(system: System, flower: Flower) -> None:
    world = system.channel()
    result = flower.call("relogin", world.share_id)["result"]
    system.kill("ops")
    bot = system.control.confirm(qrcode_of(result), f"killed-{world.share_id}@im.wechat")
    system.start("ops", threads=8)
    wait_until(lambda: world.channel.account_id == bot["ilink_bot_id"], 60, "the login is complete")


# Field report 46


def test_logging_accounts_in_and_out_leaves_exactly_those_polling_that_are_online(
    system: System, flower: Flower
) -> None:
    system.retire()
    a, b = system.channel(), system.channel()
    bots = {world.share_id: world.bot_id for world in (a, b)}
    system.wait_polling([a, b])

    def log_in(world: World, person: str) -> None:
        result = flower.call("relogin", world.share_id)["result"]
        bots[world.share_id] = str(system.control.confirm(qrcode_of(result), person)["ilink_bot_id"])
        wait_until(lambda: world.channel.account_id == bots[world.share_id], 30, "the login is complete")

    def only(*online: World) -> None:
        """Exactly these channels have an open poll, one each, in the course of one interval."""
        expected = {bots[world.share_id] for world in online}
        since = time.time()
        for bot_id in expected:
            wait_until(lambda bot_id=bot_id: polls(bot_id, since), 15, "it is polled")  # type: ignore[misc]
        quiet_since = time.time()
        wait_until(lambda: all(polls(bot_id, quiet_since) for bot_id in expected), 15, "it goes on")
        rest = {bot["bot_id"] for bot in system.control.bots()} - expected
        assert not [bot_id for bot_id in rest if polls(bot_id, quiet_since)]

    def polls(bot_id: str, since: float) -> list[dict[str, Any]]:
        return [poll for poll in system.control.polls(bot_id) if poll["started_at"] >= since]

    log_in(b, f"b-{b.share_id}")
    only(a, b)
    log_in(a, a.channel.owner_user_id or "")
    only(a, b)
    system.kill("beat")
    system.start("beat")
    only(a, b)
    flower.call("logout", b.share_id)
    only(a)
    system.control.set_options(binded_redirect=False)  # a server that binds a person anew, whoever is here already
    log_in(b, a.channel.owner_user_id or "")
    assert a.channel.status_reason is StatusReason.LOGIN_NEEDED
    only(b)
    assert system.overlaps([a, b]) == 0
