"""A QR login in front of a person, against the simulated WeChat, whoever does its steps."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.world import World
from wechat_bridge.cli.qr_login import LoginWatch
from wechat_bridge.errors import LoginFailed
from wechat_bridge.flow.login.start import start_login
from wechat_bridge.flow.login.step import take_step
from wechat_bridge.simulators.ilink import IlinkOptions, IlinkSimulator
from wechat_bridge.wiring import Wired

CONFIRMED = {"status": "confirmed", "bot_token": "t", "ilink_bot_id": "b@im.bot"}


@pytest.fixture(scope="module")
def wechat() -> Iterator[IlinkSimulator]:
    """A simulated WeChat that does not hold status requests."""
    with IlinkSimulator(IlinkOptions(qr_hold_seconds=0.0)) as running:
        yield running


@pytest.fixture
def world(wired: Wired, wechat: IlinkSimulator) -> World:
    """A channel that is logged in at this simulated WeChat."""
    return World.create(wired, wechat.control, wechat.base_url)


@dataclass
class Person:
    """Reads the screen, plays the phone, and never waits."""

    world: World
    statuses: list[list[dict[str, Any]]]
    codes: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def show_code(self, link: str) -> None:
        self.links.append(link)
        code = self.world.control.qrcodes()[-1]["qrcode"]
        self.codes.append(code)
        if len(self.codes) <= len(self.statuses):
            self.world.control.show_statuses(code, *self.statuses[len(self.codes) - 1])

    def say(self, line: str) -> None:
        self.said.append(line)

    def ask_number(self) -> str:
        return self.numbers.pop(0)

    def pause(self, seconds: float) -> None:
        """Let the next step be due, if it rests."""
        key = f"login:qr:{self.world.share_id}"
        if self.world.wired.redis.exists(key):
            self.world.wired.redis.hset(key, "next_at", "0")

    def log_in(self) -> None:
        """Follow a login to its end."""
        login = start_login(self.world.bridge, self.world.share_id, self.world.control.base_url)
        LoginWatch(self.world.bridge, self, self.pause).follow(login)


def confirmed(world: World) -> dict[str, Any]:
    return {**CONFIRMED, "ilink_user_id": f"u-{world.share_id}", "baseurl": world.control.base_url}


def test_the_link_is_drawn_and_not_the_key_of_the_status(world: World) -> None:
    person = Person(world, [[confirmed(world)]])
    person.log_in()
    assert person.links[0].startswith("https://")
    assert person.links[0] != person.codes[0]
    assert world.channel.account_id == "b@im.bot"


def test_each_state_is_said_once(world: World) -> None:
    scaned = {"status": "scaned"}
    person = Person(world, [[{"status": "wait"}, {"status": "wait"}, scaned, scaned, confirmed(world)]])
    person.log_in()
    assert person.said == ["scan the code with WeChat on the phone", "scanned; now confirm on the phone"]


def test_an_expired_code_is_replaced_and_the_new_one_shown(world: World) -> None:
    person = Person(world, [[{"status": "expired"}], [confirmed(world)]])
    person.log_in()
    assert len(set(person.codes)) == 2
    assert "the code has expired" in person.said


def test_three_expired_codes_are_the_end(world: World) -> None:
    person = Person(world, [[{"status": "expired"}]] * 5)
    with pytest.raises(LoginFailed, match=f"channel {world.share_id}: .* the last of 3 codes"):
        person.log_in()
    assert len(person.codes) == 3


class PersonWithNumber(Person):
    """Sees the number 2 on the phone, and confirms once it was typed."""

    def show_code(self, link: str) -> None:
        super().show_code(link)
        self.world.control.scan(self.codes[-1], verify_code="2")

    def say(self, line: str) -> None:
        super().say(line)
        if line.startswith("scanned"):
            self.world.control.confirm(self.codes[-1], f"numbered-{self.world.share_id}")


def test_a_number_is_asked_for_until_it_is_right_whatever_is_typed(world: World) -> None:
    person = PersonWithNumber(world, [], numbers=["what?", "1", "2"])
    person.log_in()
    assert person.numbers == []
    assert person.said[1:] == [
        "submit the number shown on the phone",
        "the code should be the number that the phone shows, digits only",
        "that number is wrong",
        "scanned; now confirm on the phone",
    ]
    assert world.channel.owner_user_id == f"numbered-{world.share_id}"


def test_an_unknown_status_and_a_network_error_are_shown_and_waited_through(world: World) -> None:
    odd = {"status": "moon_phase"}
    person = Person(world, [[odd, odd, confirmed(world)]])
    world.control.script("get_qrcode_status", status=502)
    person.log_in()
    assert person.said.count("WeChat says 'moon_phase'; still waiting") == 1
    assert any(line.startswith("still waiting (") for line in person.said)


def test_a_login_whose_steps_a_worker_does_is_shown_as_well(world: World) -> None:
    person = Person(world, [[{"status": "wait"}, {"status": "scaned"}, confirmed(world)]])
    waits = threading.Event()

    def worker() -> None:
        while (login := world.bridge.logins.get(world.share_id)) is not None and not login.has_ended:
            take_step(world.bridge, world.share_id, login.id, login.step)
            waits.wait(0.01)

    login = start_login(world.bridge, world.share_id, world.control.base_url)
    thread = threading.Thread(target=worker)
    thread.start()
    LoginWatch(world.bridge, person, lambda _: None).follow(login)
    thread.join(10)
    assert world.channel.account_id == "b@im.bot"
    assert world.channel.epoch == 2


@pytest.mark.parametrize(("change", "why"), [("gone", "is gone: its time is over"), ("another", "another login")])
def test_a_login_that_is_gone_or_replaced_ends_the_command(world: World, change: str, why: str) -> None:
    login = start_login(world.bridge, world.share_id, world.control.base_url)

    def pause(_: float) -> None:
        world.bridge.logins.forget(world.share_id)
        if change == "another":
            start_login(world.bridge, world.share_id, world.control.base_url)

    later = login.model_copy(update={"next_at": login.ends_at})
    with pytest.raises(LoginFailed, match=why):
        LoginWatch(world.bridge, Person(world, []), pause).follow(later)
