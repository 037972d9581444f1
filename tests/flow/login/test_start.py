"""Beginning a QR login, joining it, and submitting the number that the phone shows."""

from __future__ import annotations

import threading

import pytest

from tests.flow.login.scanning import Scan
from tests.support.together import together
from tests.support.variations import using
from tests.support.world import World
from wechat_bridge.errors import ChannelUnknown, LoginFailed, NotConfigured
from wechat_bridge.flow.login.number import submit_number, wait_for_verdict
from wechat_bridge.flow.login.start import start_login
from wechat_bridge.flow.login.view import view
from wechat_bridge.local.ports import free_port
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.login import LoginPhase
from wechat_bridge.simulators.ilink import IlinkSimulator
from wechat_bridge.store.channels import ChannelStore
from wechat_bridge.store.ledger import database
from wechat_bridge.store.vault import Vault
from wechat_bridge.wiring import Wired


@pytest.fixture
def world(qr_world: World) -> World:
    """A channel that is logged in, at a simulated WeChat that does not hold questions."""
    return qr_world


def test_a_login_in_progress_is_joined_by_whoever_asks(world: World, qr_wechat: IlinkSimulator) -> None:
    before = len(qr_wechat.control.qrcodes())
    links = {
        login.link for login in together(5, lambda _: start_login(world.bridge, world.share_id, qr_wechat.base_url))
    }
    assert len(links) == 1
    assert len(qr_wechat.control.qrcodes()) == before + 1


def test_after_the_end_of_one_login_another_begins(world: World) -> None:
    scan = Scan.begin(world)
    first = scan.login
    scan.confirm()
    assert scan.step().phase is LoginPhase.DONE
    again = Scan.begin(world).login
    assert (again.id != first.id, again.phase) == (True, LoginPhase.SCAN)


def test_a_login_from_another_server_replaces_the_one_in_progress(world: World, qr_wechat: IlinkSimulator) -> None:
    first = Scan.begin(world).login
    alias = qr_wechat.base_url.replace("127.0.0.1", "localhost")
    second = start_login(world.bridge, world.share_id, alias)
    assert (second.id != first.id, second.api_base) == (True, alias)


def test_what_a_person_sees_says_what_to_do_and_has_a_code_to_scan(world: World) -> None:
    scan = Scan.begin(world)
    shown = view(world.bridge, scan.login)
    assert (shown["phase"], shown["message"]) == ("scan", "scan the code with WeChat on the phone")
    assert (shown["link"], scan.login.qrcode in shown) == (scan.login.link, False)
    assert shown["qr"].count("\n") > 15
    assert 470 < shown["seconds_left"] <= 480
    scan.confirm()
    ended = view(world.bridge, scan.step())
    assert (ended["phase"], ended["link"], ended["qr"], ended["seconds_left"]) == ("done", "", "", 0)


def test_wechat_that_cannot_be_reached_is_a_clear_failure_and_no_login_stays(world: World) -> None:
    with pytest.raises(LoginFailed, match=f"channel {world.share_id}: POST http://127.0.0.1") as caught:
        start_login(world.bridge, world.share_id, f"http://127.0.0.1:{free_port()}")
    assert "\n" not in str(caught.value)
    assert Scan.begin(world).login.phase is LoginPhase.SCAN


def test_a_channel_that_does_not_exist_is_named(world: World) -> None:
    with pytest.raises(ChannelUnknown, match="there is no channel nobody;"):
        start_login(world.bridge, "nobody")
    with pytest.raises(ChannelUnknown, match="there is no channel nobody;"):
        submit_number(world.bridge, "nobody", "1")


def test_a_platform_without_qr_logins_is_named(world: World) -> None:
    with pytest.raises(NotConfigured, match="is of kind ilink, which has no QR login"):
        start_login(using(world, login_doors={}).bridge, world.share_id)


def test_without_a_key_nobody_is_asked_to_scan(world: World, wired: Wired, qr_wechat: IlinkSimulator) -> None:
    keyless = ChannelStore(database(wired.mongo), Vault(()))
    before = len(qr_wechat.control.qrcodes())
    with pytest.raises(NotConfigured, match="WECHAT_BRIDGE_SECRET_KEYS is not set"):
        start_login(using(world, channels=keyless).bridge, world.share_id, qr_wechat.base_url)
    assert len(qr_wechat.control.qrcodes()) == before


def test_wechat_is_told_of_the_other_bots_at_its_server_and_not_of_the_channels_own(
    world: World, wired: Wired, qr_wechat: IlinkSimulator
) -> None:
    wired.bridge.channels.collection.delete_many({"_id": {"$ne": world.share_id}})
    World.create(wired, qr_wechat.control, qr_wechat.base_url)
    World.create(wired, qr_wechat.control, "https://ilinkai.weixin.qq.com")
    wired.bridge.channels.add(Channel(id=f"{world.share_id}-new"))
    Scan.begin(world)
    assert qr_wechat.control.qrcodes()[-1]["local_tokens"] == 1


@pytest.mark.parametrize("number", ["", "abc", "4711 ", "٤٧", "1" * 13, "4711&x=1"])
def test_what_is_no_number_is_refused(world: World, number: str) -> None:
    Scan.begin(world)
    with pytest.raises(LoginFailed, match="digits only"):
        submit_number(world.bridge, world.share_id, number)


def test_a_number_that_nobody_asked_for_is_refused(world: World) -> None:
    with pytest.raises(LoginFailed, match=r"no login of channel .* is in progress"):
        submit_number(world.bridge, world.share_id, "4711")
    Scan.begin(world)
    with pytest.raises(LoginFailed, match="asks for no number just now; scan the code"):
        submit_number(world.bridge, world.share_id, "4711")


@pytest.mark.parametrize(("number", "is_right"), [("1", False), ("4711", True)])
def test_whoever_submits_a_number_hears_whether_it_was_right(world: World, number: str, is_right: bool) -> None:
    scan = Scan.begin(world)
    world.control.scan(scan.login.qrcode, verify_code="4711")
    scan.step()
    login = submit_number(world.bridge, world.share_id, number)
    asking = threading.Timer(0.2, scan.step)
    asking.start()
    if is_right:
        assert wait_for_verdict(world.bridge, login).phase is LoginPhase.CONFIRM
    else:
        with pytest.raises(LoginFailed, match="that number is wrong"):
            wait_for_verdict(world.bridge, login)
    asking.join()
