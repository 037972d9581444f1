"""A session ends while replies wait, and an operator logs the channel in again through Flower."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from tests.support.system import System, wait_until
from tests.support.world import World
from wechat_bridge.flow.login.step import chain_next_step
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
def system(make_system: Callable[..., System], simulated_wechat: IlinkSimulatorProcess) -> Iterator[System]:
    """A running system that logs in at the simulated WeChat."""
    environment = {
        "WECHAT_BRIDGE_LOGIN__API_BASE": simulated_wechat.base_url,
        "WECHAT_BRIDGE_POLL__EMPTY_POLL_DELAY_SECONDS": "1",
    }
    with make_system(**environment) as running:
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
    assert world.channel.status == "online"


def test_the_command_line_shows_a_login_that_workers_follow(system: System) -> None:
    world = system.channel()
    before = len(system.control.qrcodes())
    command = [sys.executable, "-m", "wechat_bridge.cli.main", "channel", "login", world.share_id]
    child = Child(command, system.directory / "login.log", cwd=system.directory, env=system.environment)
    try:
        qrcode = system.control.wait_for_qrcode(after=before, timeout_seconds=20)
        login = world.bridge.logins.get(world.share_id)
        assert login is not None
        chain_next_step(world.bridge, login)
        bot = system.control.confirm(qrcode, f"cli-{world.share_id}@im.wechat")
        wait_until(lambda: not child.alive, 30, "the command ends")
    finally:
        child.kill()
    assert f"channel {world.share_id} is online" in system.log_of("login")
    assert (world.channel.account_id, world.channel.epoch) == (bot["ilink_bot_id"], 2)


# Field report 46


class Accounts:
    """Channels that are logged in and out through Flower, and which of their bots are polled."""

    def __init__(self, system: System, flower: Flower, *worlds: World) -> None:
        self.system, self.flower = system, flower
        self.bots = {world.share_id: world.bot_id for world in worlds}

    def log_in(self, world: World, person: str) -> None:
        """Scan as this WeChat user, and wait until the channel has the account."""
        qrcode = qrcode_of(self.flower.call("relogin", world.share_id)["result"])
        bot = self.bots[world.share_id] = str(self.system.control.confirm(qrcode, person)["ilink_bot_id"])
        wait_until(lambda: world.channel.account_id == bot, 30, "the login is complete")

    def assert_polled(self, *online: World) -> None:
        """Exactly the bots of these channels are polled, within one interval and from then on."""
        expected = {self.bots[world.share_id] for world in online}
        for _ in range(2):
            since = time.time()
            wait_until(lambda: expected <= self._polled_since(since), 15, "all are polled")  # noqa: B023
        assert self._polled_since(since) == expected

    def _polled_since(self, since: float) -> set[str]:
        control = self.system.control
        known = {bot["bot_id"] for bot in control.bots()} | set(self.bots.values())
        return {bot for bot in known if any(poll["started_at"] >= since for poll in control.polls(bot))}


@pytest.mark.long
def test_logging_accounts_in_and_out_leaves_exactly_those_polling_that_are_online(
    system: System, flower: Flower
) -> None:
    system.retire()
    a, b = system.channel(), system.channel()
    accounts = Accounts(system, flower, a, b)
    accounts.assert_polled(a, b)
    accounts.log_in(b, f"b-{b.share_id}")
    accounts.assert_polled(a, b)
    accounts.log_in(a, a.channel.owner_user_id or "")
    accounts.assert_polled(a, b)
    system.kill("beat")
    system.start("beat")
    accounts.assert_polled(a, b)
    flower.call("logout", b.share_id)
    accounts.assert_polled(a)
    system.control.set_options(binded_redirect=False)  # a server that binds a person anew, whoever is here already
    accounts.log_in(b, a.channel.owner_user_id or "")
    assert a.channel.status_reason is StatusReason.LOGIN_NEEDED
    accounts.assert_polled(b)
    assert system.overlaps([a, b]) == 0
