"""Temporary media: up, down, in parts, for 3 days and for one corp."""

from __future__ import annotations

import pytest

from wechat_bridge.simulators.wecom import WecomControl

from .conftest import USER, Api

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def test_a_file_comes_back_as_it_was_with_its_name(api: Api) -> None:
    uploaded = api.upload("file", b"0123456789", "report.txt")
    assert (uploaded["errcode"], uploaded["type"], uploaded["created_at"].isdigit()) == (0, "file", True)
    found = api.get("media/get", media_id=uploaded["media_id"])
    assert found.content == b"0123456789"
    assert 'filename="report.txt"' in found.headers["Content-Disposition"]


@pytest.mark.parametrize(
    ("wanted", "status", "content"),
    [("bytes=2-4", 206, b"234"), ("bytes=7-", 206, b"789"), ("bytes=20-", 416, b"")],
)
def test_a_part_of_a_file_can_be_asked_for(api: Api, wanted: str, status: int, content: bytes) -> None:
    media_id = api.upload("file", b"0123456789")["media_id"]
    found = api.get("media/get", {"Range": wanted}, media_id=media_id)
    assert (found.status_code, found.content) == (status, content)


def test_a_picture_can_be_sent_by_every_app_of_its_corp_and_by_no_other(control: WecomControl, api: Api) -> None:
    media_id = api.upload("image", PICTURE)["media_id"]
    for other, errcode in ((control.create_app(corp_id=api.app["corp_id"]), 0), (control.create_app(), 40007)):
        sibling = Api(other)
        message = {**sibling.text(""), "msgtype": "image", "image": {"media_id": media_id}}
        assert sibling.post("message/send", message)["errcode"] == errcode
    [shown] = control.deliveries(USER)
    assert control.get_media(api.key, shown["content"]["media_id"]) == PICTURE


def test_after_three_days_a_file_is_gone_for_get_and_send(control: WecomControl, api: Api) -> None:
    media_id = api.upload("image", PICTURE)["media_id"]
    message = {**api.text(""), "msgtype": "image", "image": {"media_id": media_id}}
    control.advance_clock(3 * 86_400 - 60)
    assert api.post("message/send", message)["errcode"] == 0
    control.advance_clock(61)
    assert api.post("message/send", message)["errcode"] == 40007
    assert api.read(api.get("media/get", media_id=media_id))["errcode"] == 40007


def test_a_media_id_is_of_one_kind(api: Api) -> None:
    media_id = api.upload("file", b"0123456789")["media_id"]
    message = {**api.text(""), "msgtype": "image", "image": {"media_id": media_id}}
    assert api.post("message/send", message)["errcode"] == 40007


@pytest.mark.parametrize(
    ("kind", "data", "errcode"),
    [
        ("sculpture", b"0123456789", 40005),
        ("image", b"not a picture", 40005),
        ("file", b"12345", 40006),
        ("voice", b"#!AMR" + bytes(2 * 1024 * 1024), 45001),
    ],
)
def test_a_wrong_file_is_refused_with_its_code(api: Api, kind: str, data: bytes, errcode: int) -> None:
    assert api.upload(kind, data)["errcode"] == errcode


def test_the_part_must_be_called_media(api: Api) -> None:
    assert api.upload("file", b"0123456789", field="file")["errcode"] == 41005


def test_with_debug_only_five_uploads_a_minute_pass(api: Api) -> None:
    codes = [api.upload("file", b"0123456789", debug="1")["errcode"] for _ in range(6)]
    assert codes == [0] * 5 + [45009]
    assert api.upload("file", b"0123456789")["errcode"] == 0
