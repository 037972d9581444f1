"""Uploads: what goes over the wire, what is tried again, and what is not."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest

from tests.channels.leaks import everything_said_by
from tests.channels.scripted_server import Exchange, ScriptedServer
from tests.support.pictures import mp4, noise, pdf, png
from wechat_bridge.channels.base import MediaDoor, OutboundFile
from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.ilink import upload as upload_module
from wechat_bridge.channels.ilink.media import IlinkMedia
from wechat_bridge.channels.ilink.upload import Upload
from wechat_bridge.errors import MediaRefused, PlatformUnavailable, SendRefused, SessionExpired
from wechat_bridge.model.channel import Account
from wechat_bridge.model.message import ItemKind
from wechat_bridge.simulators.ilink import media_store

TOKEN = "a1b2c3d4e5f6@im.bot:06000012ab34"
USER = "oTESTuser0000000000000000001@im.wechat"
PICTURE = OutboundFile(ItemKind.IMAGE, "", "image/png", png(1_000))

# The example of the protocol: request, then the item that shows the file.
KEY, FILEKEY = bytes.fromhex("cd8187ead3eb189ecae4634fde0e7795"), "b2e59eff78ec6fe998b91f890ffbee9c"
ITEM = json.loads("""{"type":2,"image_item":{"media":{"encrypt_query_param":"RE9XTg==",
  "aes_key":"Y2Q4MTg3ZWFkM2ViMTg5ZWNhZTQ2MzRmZGUwZTc3OTU=","encrypt_type":1},"mid_size":1008}}""")


class Cdn:
    """Answers getuploadurl with ``told`` and then each upload with the next of ``answers``, the last for ever."""

    def __init__(self, server: ScriptedServer) -> None:
        self.told: Any = {
            "ret": 0,
            "upload_full_url": f"{server.url}/c2c/upload?encrypted_query_param=VVA%3D&taskid=t1",
        }
        self.answers: list[tuple[str, str]] = [("200 OK", "x-encrypted-param: RE9XTg==")]
        self.uploads: list[bytes] = []
        self.paths: list[str] = []
        self.announced: list[Any] = []
        server.script = self.script

    def script(self, exchange: Exchange) -> None:
        if exchange.request.path.endswith("/ilink/bot/getuploadurl"):
            self.announced.append(exchange.request.json())
            exchange.answer_json(self.told)
            return
        self.uploads.append(exchange.request.body)
        self.paths.append(exchange.request.path)
        status, *headers = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        exchange.answer(b"", status, *filter(None, headers))


@pytest.fixture
def cdn(server: ScriptedServer) -> Cdn:
    return Cdn(server)


@pytest.fixture
def door(http: HttpClient, server: ScriptedServer) -> MediaDoor:
    return IlinkMedia(http, origins=[server.url], cdn_base_url=f"{server.url}/c2c", most_bytes=100_000)


@pytest.fixture
def account(server: ScriptedServer) -> Account:
    return Account(token=TOKEN, account_id="a1b2c3d4e5f6@im.bot", base_url=server.url)


def test_the_example_of_the_protocol_is_produced() -> None:
    upload = Upload(OutboundFile(ItemKind.IMAGE, "", "image/png", b"x" * 1_000), KEY, FILEKEY)
    announced = upload.announcement(USER)
    assert announced.pop("base_info")["channel_version"] == "2.4.9"
    assert announced == {
        "filekey": FILEKEY,
        "media_type": 1,
        "to_user_id": USER,
        "rawsize": 1000,
        "rawfilemd5": hashlib.md5(b"x" * 1_000).hexdigest(),
        "filesize": 1008,
        "no_need_thumb": True,
        "aeskey": "cd8187ead3eb189ecae4634fde0e7795",
    }
    assert upload.item("RE9XTg==") == ITEM


@pytest.mark.parametrize(
    ("kind", "media_type", "item_type", "sizes"),
    [
        (ItemKind.IMAGE, 1, 2, {"mid_size": 1008}),
        (ItemKind.VIDEO, 2, 5, {"video_size": 1008}),
        (ItemKind.FILE, 3, 4, {"file_name": "a.pdf", "len": "1000"}),
        (ItemKind.VOICE, 3, 4, {"file_name": "a.pdf", "len": "1000"}),
    ],
)
def test_each_kind_has_its_own_numbers(kind: ItemKind, media_type: int, item_type: int, sizes: dict[str, Any]) -> None:
    upload = Upload(OutboundFile(kind, "a.pdf", "application/pdf", noise(1_000)))
    assert upload.announcement(USER)["media_type"] == media_type
    item = upload.item("p")
    [(name, detail)] = [(name, part) for name, part in item.items() if name != "type"]
    assert (item["type"], name) == (item_type, {2: "image_item", 5: "video_item", 4: "file_item"}[item_type])
    assert {key: value for key, value in detail.items() if key != "media"} == sizes


def test_two_uploads_share_neither_key_nor_name() -> None:
    first, second = Upload(PICTURE), Upload(PICTURE)
    assert (first.key, first.filekey) != (second.key, second.filekey)
    assert first.key.hex() not in repr(first)


@pytest.mark.parametrize(
    "file", [PICTURE, OutboundFile(ItemKind.FILE, "", "", b""), OutboundFile(ItemKind.VIDEO, "", "", mp4())]
)
def test_what_arrives_opens_with_the_key_of_the_item(door: MediaDoor, account: Account, cdn: Cdn, file: Any) -> None:
    uploaded = door.upload(account, USER, file, 10.0)
    [announced], [body] = cdn.announced, cdn.uploads
    assert len(body) == announced["filesize"]
    assert media_store.decrypt(body, bytes.fromhex(announced["aeskey"])) == file.data
    media = media_store.media_of(uploaded.item)
    assert media is not None
    assert base64.b64decode(media["aes_key"]).decode() == announced["aeskey"]
    assert media["encrypt_query_param"] == "RE9XTg=="
    assert cdn.paths == ["/c2c/upload?encrypted_query_param=VVA%3D&taskid=t1"]


def test_where_only_a_parameter_comes_the_address_is_made(door: MediaDoor, account: Account, cdn: Cdn) -> None:
    cdn.told = {"upload_param": "a+/="}
    door.upload(account, USER, PICTURE, 10.0)
    filekey = cdn.announced[0]["filekey"]
    assert cdn.paths == [f"/c2c/upload?encrypted_query_param=a%2B%2F%3D&filekey={filekey}"]


@pytest.mark.parametrize(
    "failure", [("500 Oops", ""), ("200 OK", ""), ("200 OK", "x-encrypted-param: "), ("302 Found", "Location: /x")]
)
def test_three_attempts_are_made(door: MediaDoor, account: Account, cdn: Cdn, failure: tuple[str, str]) -> None:
    cdn.answers = [failure, failure, ("200 OK", "X-Encrypted-Param: cA==")]
    assert door.upload(account, USER, PICTURE, 10.0).item["image_item"]["media"]["encrypt_query_param"] == "cA=="
    cdn.answers = [failure]
    with pytest.raises(PlatformUnavailable, match="did not take"):
        door.upload(account, USER, PICTURE, 10.0)
    assert len(cdn.uploads) == 6
    assert len(cdn.announced) == 2


def test_a_connection_that_breaks_is_tried_again(
    door: MediaDoor, account: Account, cdn: Cdn, server: ScriptedServer
) -> None:
    def cut_once(exchange: Exchange) -> None:
        if exchange.request.path.startswith("/c2c") and not cdn.uploads:
            cdn.uploads.append(exchange.request.body)
            exchange.cut()
        else:
            cdn.script(exchange)

    server.script = cut_once
    assert door.upload(account, USER, PICTURE, 10.0).item["type"] == 2


@pytest.mark.parametrize("status", ["400 Bad Request", "403 Forbidden", "413 Too Large"])
def test_a_refused_upload_is_not_repeated(door: MediaDoor, account: Account, cdn: Cdn, status: str) -> None:
    cdn.answers = [(status, "x-error-message: not  this one")]
    with pytest.raises(MediaRefused, match="not this one"):
        door.upload(account, USER, PICTURE, 10.0)
    assert len(cdn.uploads) == 1


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({"ret": -2, "errmsg": "no media"}, SendRefused),
        ({"ret": -1}, SendRefused),
        ({"errcode": -14}, SessionExpired),
        ({}, PlatformUnavailable),
        ({"ret": 0, "upload_full_url": 7, "upload_param": None}, PlatformUnavailable),
        ([], PlatformUnavailable),
        ({"upload_full_url": "file:///etc/passwd"}, MediaRefused),
        ({"upload_full_url": "http://169.254.169.254/"}, MediaRefused),
        ({"upload_full_url": "https://evil.test/upload"}, MediaRefused),
    ],
)
def test_nothing_is_uploaded_where_no_good_address_comes(
    door: MediaDoor, account: Account, cdn: Cdn, told: Any, error: type[Exception]
) -> None:
    cdn.told = told
    with pytest.raises(error):
        door.upload(account, USER, PICTURE, 10.0)
    assert cdn.uploads == []


def test_a_server_that_takes_for_ever_is_left(
    door: MediaDoor, account: Account, cdn: Cdn, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_module, "_CONNECT_SECONDS", 0.2)
    server.script = lambda exchange: exchange.hold() if "c2c" in exchange.request.path else cdn.script(exchange)
    with pytest.raises(PlatformUnavailable):
        door.upload(account, USER, PICTURE, 0.3)


def test_an_uploaded_file_is_sent_as_one_item(
    door: MediaDoor, account: Account, cdn: Cdn, server: ScriptedServer
) -> None:
    uploaded = door.upload(account, USER, OutboundFile(ItemKind.FILE, "plan.pdf", "application/pdf", pdf()), 10.0)
    server.script = lambda exchange: exchange.answer_json({"message_id": 2**63 + 5})
    assert door.send(account, USER, uploaded, "client-1", "Q1RY") == "9223372036854775813"
    sent = server.received[-1].json()["msg"]
    assert sent["item_list"] == [uploaded.item]
    assert (sent["to_user_id"], sent["client_id"], sent["context_token"]) == (USER, "client-1", "Q1RY")


def test_neither_key_nor_token_is_in_an_error(door: MediaDoor, account: Account, cdn: Cdn) -> None:
    cdn.answers = [("503 Busy", "x-error-message: later")]
    with pytest.raises(PlatformUnavailable) as caught:
        door.upload(account, USER, PICTURE, 10.0)
    said = everything_said_by(caught.value)
    assert TOKEN not in said
    assert cdn.announced[0]["aeskey"] not in said
    assert "VVA" not in said
