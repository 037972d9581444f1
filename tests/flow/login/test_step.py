"""A QR login, step by step, against the simulated WeChat."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
import structlog

from tests.flow.login.scanning import CONFIRMED, Scan
from tests.support.variations import setting, using, wrapping
from tests.support.world import World
from wechat_bridge.channels.ilink.login import IlinkLogin
from wechat_bridge.flow.login.start import start_login
from wechat_bridge.model.channel import ChannelKind
from wechat_bridge.model.login import LoginPhase
from wechat_bridge.observe.logging import configure
from wechat_bridge.simulators.ilink import IlinkOptions, IlinkSimulator
from wechat_bridge.wiring import Wired


@pytest.fixture
def world(qr_world: World) -> World:
    """A channel that is logged in, at a simulated WeChat that does not hold questions."""
    return qr_world


def test_a_whole_login_wait_scaned_confirmed(world: World) -> None:
    scan = Scan.begin(world)
    before = world.channel
    assert (scan.login.phase, scan.login.codes) == (LoginPhase.SCAN, 1)
    assert scan.login.link.startswith("https://liteapp.weixin.qq.com/q/")
    world.control.scan(scan.login.qrcode)
    assert scan.step().phase is LoginPhase.CONFIRM
    bot = scan.confirm()
    assert scan.step().phase is LoginPhase.DONE
    channel = world.channel
    assert (channel.account_id, channel.epoch) == (bot["ilink_bot_id"], before.epoch + 1)
    account = world.bridge.channels.vault.open(channel.sealed_account or "")
    assert (account.token, account.base_url) == (bot["bot_token"], world.control.base_url)
    assert bot["bot_token"] not in str(world.bridge.channels.collection.find_one({"_id": world.share_id}))


def test_the_channel_goes_on_with_its_account_until_the_new_one_is_confirmed(world: World) -> None:
    before = world.channel
    Scan.begin(world, {"status": "scaned"}).step()
    assert world.channel == before


# Field report 45


def test_a_redirect_is_followed_and_the_address_it_names_is_used_from_then_on(world: World) -> None:
    with IlinkSimulator(IlinkOptions(qr_hold_seconds=0.0)) as elsewhere:
        scan = Scan.begin(setting(world, "login", hosts="127.0.0.1"))
        host = elsewhere.base_url.removeprefix("http://")
        scan.show({"status": "wait"}, {"status": "scaned"}, {"status": "scaned_but_redirect", "redirect_host": host})
        assert scan.step(3).base_url == elsewhere.base_url
        answer = {**CONFIRMED, "ilink_user_id": f"u-{world.share_id}", "baseurl": elsewhere.base_url}
        elsewhere.control.script("get_qrcode_status", answer=answer)
        assert scan.step().phase is LoginPhase.DONE
    account = world.bridge.channels.vault.open(world.channel.sealed_account or "")
    assert account.base_url == elsewhere.base_url


@pytest.mark.parametrize("host", ["127.0.0.1:1", "evil.test/..", "idc2.example.test", "169.254.169.254"])
def test_a_redirect_to_a_host_off_the_list_is_not_followed_and_is_explained(world: World, host: str) -> None:
    scan = Scan.begin(world, {"status": "scaned_but_redirect", "redirect_host": host})
    login = scan.step()
    assert (login.base_url, login.has_ended) == (world.control.base_url, False)
    assert "not in WECHAT_BRIDGE_LOGIN__HOSTS" in login.note


def test_three_codes_may_expire_each_hidden_at_once_and_replaced(world: World) -> None:
    scan = Scan.begin(world)
    links = []
    for _ in range(3):
        links.append(scan.login.link)
        scan.show({"status": "expired"})
        assert scan.step().link == ""
        scan.step()
    assert len(set(links)) == 3
    assert (scan.login.phase, scan.login.codes) == (LoginPhase.FAILED, 3)
    assert "it was the last of 3 codes" in scan.login.note


def test_the_number_of_the_phone_is_asked_for_until_it_is_right(world: World) -> None:
    scan = Scan.begin(world)
    world.control.scan(scan.login.qrcode, verify_code="4711")
    assert scan.step().phase is LoginPhase.NUMBER
    world.bridge.logins.submit_number(world.share_id, scan.login.id, "1")
    login = scan.step()
    assert (login.phase, login.note, login.number) == (LoginPhase.NUMBER, "that number is wrong", "")
    world.bridge.logins.submit_number(world.share_id, login.id, "4711")
    assert scan.step().phase is LoginPhase.CONFIRM
    scan.confirm()
    assert scan.step().phase is LoginPhase.DONE


def test_too_many_wrong_numbers_cost_the_code(world: World) -> None:
    scan = Scan.begin(world)
    world.control.scan(scan.login.qrcode, verify_code="4711")
    scan.step()
    for _ in range(3):
        world.bridge.logins.submit_number(world.share_id, scan.login.id, "1")
        scan.step()
    assert (scan.login.phase, scan.login.note, scan.login.number) == (LoginPhase.FETCH, "too many wrong numbers", "")
    assert scan.step().codes == 2


@pytest.mark.parametrize("missing", ["ilink_bot_id", "bot_token"])
def test_a_confirmed_login_that_does_not_name_its_account_is_a_failure(world: World, missing: str) -> None:
    before = world.channel
    scan = Scan.begin(world)
    scan.confirm(omit=[missing])
    assert scan.step().phase is LoginPhase.FAILED
    assert "without naming the bot" in scan.login.note
    assert world.channel == before


def test_a_confirmed_login_without_an_address_uses_the_one_codes_come_from(world: World) -> None:
    scan = Scan.begin(world)
    scan.confirm(omit=["baseurl"])
    assert scan.step().phase is LoginPhase.DONE
    account = world.bridge.channels.vault.open(world.channel.sealed_account or "")
    assert account.base_url == world.control.base_url


def test_an_account_at_an_address_off_the_list_is_not_used(world: World) -> None:
    before = world.channel
    scan = Scan.begin(world)
    scan.confirm(fields={"baseurl": "https://user:pw@evil.test"})
    assert scan.step().phase is LoginPhase.FAILED
    assert scan.login.note == "WeChat names 'evil.test' as the account's address; add it to WECHAT_BRIDGE_LOGIN__HOSTS"
    assert world.channel == before


FAILURES: dict[str, dict[str, Any]] = {
    "cut": {"cut": True},
    "524": {"status": 524, "body": "<html>timeout</html>"},
    "a page": {"body": "<html>"},
    "no status": {"answer": {"ret": 0}},
    "no object": {"answer": [1]},
}


@pytest.mark.parametrize("failure", list(FAILURES))
def test_a_question_that_fails_is_waiting(world: World, qr_wechat: IlinkSimulator, failure: str) -> None:
    scan = Scan.begin(world)
    qr_wechat.control.script("get_qrcode_status", **FAILURES[failure])
    login = scan.step()
    assert (login.phase, login.note.startswith("still waiting (")) == (LoginPhase.SCAN, True)
    scan.confirm()
    assert scan.step().phase is LoginPhase.DONE


def test_a_question_that_is_held_is_given_up_after_seconds_and_is_waiting(world: World) -> None:
    scan = Scan.begin(world)
    world.control.script("get_qrcode_status", hang=True)
    answer = IlinkLogin(world.wired.http, 0.2).ask(scan.login.qrcode, base_url=scan.login.base_url)
    assert answer.status == "wait"


def test_the_fifth_question_in_a_row_that_is_held_waits_for_its_answer(world: World) -> None:
    with IlinkSimulator(IlinkOptions(qr_hold_seconds=0.6)) as holding:
        doors = {ChannelKind.ILINK: IlinkLogin(world.wired.http, 0.1)}
        world = using(world, login_doors=doors)
        start_login(world.bridge, world.share_id, holding.base_url)
        scan = Scan(world)
        assert [scan.step().held for _ in range(6)] == [1, 2, 3, 4, 0, 1]


def test_an_unknown_status_is_waited_through(world: World) -> None:
    scan = Scan.begin(world, {"status": "moon_phase"}, {"status": "moon_phase"})
    assert scan.step(2).note == "WeChat says 'moon_phase'; still waiting"
    scan.confirm()
    assert scan.step().phase is LoginPhase.DONE


def test_a_renewed_code_that_cannot_be_had_is_asked_for_again(world: World, qr_wechat: IlinkSimulator) -> None:
    scan = Scan.begin(world, {"status": "expired"})
    scan.step()
    qr_wechat.control.script("get_bot_qrcode", status=524)
    assert scan.step().note.startswith("no new code yet (")
    assert scan.step().codes == 2


def test_eight_minutes_are_the_end_and_there_is_time_to_say_so(world: World) -> None:
    scan = Scan.begin(world)
    late = timedelta(seconds=471)
    clock = world.bridge.clock
    now = clock.now
    world = wrapping(world, "clock", "now", lambda: now() + late)
    login = scan.on(world).step()
    assert (login.phase, login.note) == (
        LoginPhase.FAILED,
        "nobody confirmed within 8 minutes; start a new login",
    )


def test_an_account_that_is_here_already_is_not_taken_twice(world: World, wired: Wired) -> None:
    other = World.create(wired, world.control, world.control.base_url)
    scan = Scan.begin(other)
    owner = world.channel.owner_user_id or ""
    assert scan.confirm(owner)["status"] == "binded_redirect"
    assert scan.step().phase is LoginPhase.FAILED
    assert "already connected through another channel" in scan.login.note


def test_no_token_and_no_key_of_a_code_is_ever_logged(world: World) -> None:
    written = io.StringIO()
    with logged(written):
        scan = Scan.begin(world)
        qrcode = scan.login.qrcode
        world.control.script("get_qrcode_status", cut=True)
        scan.step()
        bot = scan.confirm()
        scan.step()
    assert world.channel.account_id == bot["ilink_bot_id"]
    lines = [line for line in written.getvalue().splitlines() if "aiohttp.access" not in line]
    assert any("logged_in" in line for line in lines)
    assert not [line for line in lines if bot["bot_token"] in line or qrcode in line]


@contextmanager
def logged(stream: io.StringIO) -> Iterator[None]:
    """Let this process log to a stream as a worker does, everything that it would on DEBUG."""
    before = structlog.get_config()
    handlers, level = logging.getLogger().handlers[:], logging.getLogger().level
    configure("json", "DEBUG", stream)
    try:
        yield
        for handler in logging.getLogger().handlers:
            handler.flush()
    finally:
        structlog.configure(**before)
        logging.getLogger().handlers[:] = handlers
        logging.getLogger().setLevel(level)
