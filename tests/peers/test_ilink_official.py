"""Tencent's own iLink client against the simulator."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path

from wechat_bridge.simulators.ilink import IlinkControl

from .conftest import Driver

USER = "oTESTuser0000000000000000001@im.wechat"
PICTURE = b"\x89PNG\r\n\x1a\n" + hashlib.sha256(b"picture").digest() * 40


def test_the_official_client_receives_shows_typing_and_replies(
    control: IlinkControl, drive: Callable[..., Driver]
) -> None:
    bot = control.create_bot()
    [message_id] = control.say(bot["bot_id"], USER, "你好")
    report = drive("converse.mjs", bot["base_url"], bot["token"]).report()
    assert report["message"]["message_id"] == message_id
    assert report["message"]["item_list"][0]["text_item"]["text"] == "你好"
    assert report["second"]["msgs"] == []
    [reply] = control.deliveries(USER)
    assert (reply["text"], reply["refused"]) == ("echo: 你好", "")
    assert [row["status"] for row in control.typing(bot["bot_id"])] == [1, 2]
    assert all(row["ticket_known"] for row in control.typing(bot["bot_id"]))
    assert [row["name"] for row in control.notifications(bot["bot_id"])] == ["notifystart", "notifystop"]


def test_the_official_client_departs_nowhere_from_what_the_simulator_takes_for_its_manners(
    control: IlinkControl, drive: Callable[..., Driver]
) -> None:
    bot = control.create_bot()
    control.say(bot["bot_id"], USER, "hi")
    drive("converse.mjs", bot["base_url"], bot["token"]).report()
    stats = control.stats()
    assert stats["departures"] == {}
    assert (stats["overlaps"], stats["foreign_cursors"], stats["unacknowledged_batches"]) == (0, 0, 0)


def test_the_official_client_logs_in_with_a_verify_code_typed_wrong_first(
    control: IlinkControl, drive: Callable[..., Driver]
) -> None:
    login = drive("login.mjs", control.base_url)
    qrcode = control.wait_for_qrcode(timeout_seconds=30)
    control.scan(qrcode, verify_code="4711")
    login.type("1234")
    wait_for_qrcode_with(control, "wrong_codes", 1)
    login.type("4711")
    wait_for_qrcode_with(control, "status", "scaned")
    confirmed = control.confirm(qrcode, USER)
    report = login.report()
    assert report["connected"] is True
    assert (report["botToken"], report["accountId"]) == (confirmed["bot_token"], confirmed["ilink_bot_id"])
    assert (report["baseUrl"], report["userId"]) == (control.base_url, USER)


def test_the_official_client_gives_up_after_three_expired_qr_codes(
    control: IlinkControl, drive: Callable[..., Driver]
) -> None:
    control.set_options(qr_lifetime_seconds=0.01)
    report = drive("login.mjs", control.base_url).report()
    assert report["connected"] is False
    assert len(control.qrcodes()) == 3


def test_a_picture_goes_to_the_official_client_and_back(
    control: IlinkControl, drive: Callable[..., Driver], tmp_path: Path
) -> None:
    bot, file = control.create_bot(), control.put_media(PICTURE)
    item = {"type": 2, "image_item": {"aeskey": file["aeskey"], "media": file["media"], "mid_size": file["size"]}}
    control.send_items(bot["bot_id"], USER, [item])
    picture = tmp_path / "picture.png"
    report = drive("picture.mjs", bot["base_url"], bot["token"], str(picture)).report()
    assert report["same"] is True
    assert picture.read_bytes() == PICTURE
    caption, image = control.deliveries(USER)
    assert (caption["text"], image["media_readable"]) == ("yours", True)
    assert control.get_media(image["item"]["image_item"]["media"]["encrypt_query_param"]) == PICTURE


def test_the_official_client_builds_the_upload_url_itself_when_it_gets_only_the_parameter(
    control: IlinkControl, drive: Callable[..., Driver], tmp_path: Path
) -> None:
    control.set_options(upload_answer="param")
    bot, file = control.create_bot(), control.put_media(PICTURE, "hex")
    item = {"type": 2, "image_item": {"media": file["media"], "mid_size": file["size"]}}
    control.send_items(bot["bot_id"], USER, [item])
    drive("picture.mjs", bot["base_url"], bot["token"], str(tmp_path / "picture.png")).report()
    assert [delivery["media_readable"] for delivery in control.deliveries(USER)] == [None, True]


def wait_for_qrcode_with(control: IlinkControl, name: str, value: object) -> None:
    deadline = time.monotonic() + 20
    while control.qrcodes()[0][name] != value:
        assert time.monotonic() < deadline, f"{name} of the QR code never became {value}"
        time.sleep(0.05)
