"""Files up and down: what goes over the wire, under which id, and what WeCom's answers become."""

from __future__ import annotations

import email.message
import email.parser
from typing import Any

import pytest

from tests.channels.scripted_server import Received
from tests.channels.wecom.fake import OK, FakeWecom, query, refusal
from tests.support.pictures import mp4, noise, pdf, png
from wechat_bridge.channels.base import OutboundFile
from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.wecom.api import WecomApi
from wechat_bridge.channels.wecom.media import ID_SECONDS, WecomMedia
from wechat_bridge.channels.wecom.upload import LEAST_BYTES, MOST_FILE_BYTES
from wechat_bridge.errors import MediaRefused, PlatformUnavailable, RecipientRefused
from wechat_bridge.model.message import ItemKind
from wechat_bridge.model.wecom import WecomAccount
from wechat_bridge.store import broker, redis_keys
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.wecom_media_ids import WecomMediaIds
from wechat_bridge.store.wecom_tokens import WecomTokens

PICTURE = OutboundFile(ItemKind.IMAGE, "图.png", "image/png", png(1_000))
AMR = b"#!AMR\n" + noise(500)


@pytest.fixture
def door(api: WecomApi, media_ids: WecomMediaIds, fake: FakeWecom) -> WecomMedia:
    """The door under test; uploads get the ids up-1, up-2."""
    fake.answers["media/upload"] = [uploaded("up-1"), uploaded("up-2")]
    return WecomMedia(api, media_ids, most_bytes=100_000)


def uploaded(media_id: str) -> dict[str, Any]:
    return {**OK, "type": "image", "media_id": media_id, "created_at": "1764500000"}


def show(door: WecomMedia, account: WecomAccount, file: OutboundFile = PICTURE, client_id: str = "c-1") -> str | None:
    return door.send(account, "ann", door.upload(account, "ann", file, 10.0), client_id, "")


def part_of(request: Received) -> email.message.Message:
    """The one part of an upload, read by a parser that nobody here wrote."""
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    whole = email.parser.BytesParser().parsebytes(head + request.body)
    parts = [part for part in whole.walk() if not part.is_multipart()]
    assert len(parts) == 1
    return parts[0]


def test_a_picture_goes_up_as_documented_and_is_shown_by_its_id(
    door: WecomMedia, account: WecomAccount, fake: FakeWecom
) -> None:
    assert show(door, account) == "m-1"
    (up,) = fake.calls("media/upload")
    assert query(up) == {"access_token": "t1", "type": "image"}
    part = part_of(up)
    assert part.get_param("name", header="content-disposition") == "media"
    assert part.get_param("filelength", header="content-disposition") == "1000"
    assert part.get_content_type() == "image/png"
    assert part.get_payload(decode=True) == PICTURE.data
    (sent,) = fake.calls("message/send")
    body = sent.json()
    assert (body["touser"], body["msgtype"], body["image"]) == ("ann", "image", {"media_id": "up-1"})
    assert body["enable_duplicate_check"] == 1


@pytest.mark.parametrize(
    ("file", "media_type"),
    [
        (PICTURE, "image"),
        (OutboundFile(ItemKind.IMAGE, "", "image/jpeg", b"\xff\xd8\xff" + noise(90)), "image"),
        (OutboundFile(ItemKind.IMAGE, "", "image/gif", b"GIF89a" + noise(90)), "file"),
        (OutboundFile(ItemKind.IMAGE, "", "image/png", png(10 * 1024 * 1024 + 1)), "file"),
        (OutboundFile(ItemKind.VIDEO, "", "video/mp4", mp4()), "video"),
        (OutboundFile(ItemKind.VIDEO, "", "video/webm", noise(90)), "file"),
        (OutboundFile(ItemKind.VOICE, "", "audio/amr", AMR), "voice"),
        (OutboundFile(ItemKind.VOICE, "", "audio/mpeg", noise(90)), "file"),
        (OutboundFile(ItemKind.FILE, "a.pdf", "application/pdf", pdf()), "file"),
    ],
    ids=["png", "jpeg", "gif", "huge png", "mp4", "webm", "amr", "mp3", "pdf"],
)
def test_what_wecom_would_not_show_goes_as_a_document(
    door: WecomMedia, account: WecomAccount, fake: FakeWecom, file: OutboundFile, media_type: str
) -> None:
    show(door, account, file)
    assert query(fake.calls("media/upload")[0])["type"] == media_type
    body = fake.calls("message/send")[0].json()
    assert (body["msgtype"], body[media_type]) == (media_type, {"media_id": "up-1"})


@pytest.mark.parametrize("size", [0, LEAST_BYTES - 1, MOST_FILE_BYTES + 1])
def test_what_wecom_never_takes_is_not_uploaded(
    door: WecomMedia, account: WecomAccount, fake: FakeWecom, size: int
) -> None:
    with pytest.raises(MediaRefused, match=f"a file has {size} bytes"):
        door.upload(account, "ann", OutboundFile(ItemKind.FILE, "a.bin", "text/plain", b"x" * size), 10.0)
    assert fake.received == []


@pytest.mark.parametrize(
    ("label", "mime", "name"),
    [
        ("report.pdf", "application/pdf", "report.pdf"),
        ("报告.pdf", "application/pdf", "file.pdf"),
        ("报告 2026 final.docx", "application/zip", "2026 final.docx"),
        ("", "image/png", "file.png"),
        ('a"; filename="b\r\nX-Evil: 1.txt', "text/plain", "a filenameb X-Evil 1.txt"),
        ("../../etc/passwd", "x\r\nX-Evil: 1", "passwd.bin"),
    ],
)
def test_a_name_goes_up_in_ascii_and_cannot_break_out(
    door: WecomMedia, account: WecomAccount, fake: FakeWecom, label: str, mime: str, name: str
) -> None:
    show(door, account, OutboundFile(ItemKind.FILE, label, mime, noise(50)))
    part = part_of(fake.calls("media/upload")[0])
    assert " ".join(str(part.get_filename()).split()) == name
    assert sorted(name.lower() for name in part) == ["content-disposition", "content-type"]


# ids


def test_the_same_file_goes_up_once_and_a_retry_is_the_same_to_the_byte(
    door: WecomMedia, account: WecomAccount, fake: FakeWecom
) -> None:
    show(door, account)
    show(door, account)
    assert len(fake.calls("media/upload")) == 1
    first, second = fake.calls("message/send")
    assert first.body == second.body


def test_another_process_sends_it_by_the_same_id(
    door: WecomMedia, account: WecomAccount, fake: FakeWecom, http: HttpClient, redis_client: RedisClient
) -> None:
    show(door, account)
    other = WecomMedia(WecomApi(http, WecomTokens(redis_client)), WecomMediaIds(redis_client), most_bytes=1_000)
    show(other, account)
    assert len(fake.calls("media/upload")) == 1


def test_an_id_of_three_days_is_renewed(
    door: WecomMedia, account: WecomAccount, fake: FakeWecom, redis_client: RedisClient
) -> None:
    mark = door.upload(account, "ann", PICTURE, 10.0).item["mark"]
    key = redis_keys.wecom_media(account.corp_id, str(account.agent_id), mark)
    assert ID_SECONDS * 1000 - 10_000 < int(str(redis_client.pttl(key))) <= ID_SECONDS * 1000 < 3 * 86_400_000
    redis_client.pexpire(key, 0)
    assert door.upload(account, "ann", PICTURE, 10.0).item["media_id"] == "up-2"


def test_an_id_that_wecom_does_not_know_any_more_is_renewed_by_the_next_try(
    door: WecomMedia, account: WecomAccount, fake: FakeWecom
) -> None:
    fake.answers["message/send"] = [refusal(40007, "invalid media_id"), {**OK, "msgid": "m-2"}]
    with pytest.raises(PlatformUnavailable, match="uploaded anew"):
        show(door, account)
    assert show(door, account) == "m-2"
    assert [sent.json()["image"]["media_id"] for sent in fake.calls("message/send")] == ["up-1", "up-2"]


def test_other_files_names_and_apps_have_ids_of_their_own(
    door: WecomMedia, account: WecomAccount, fake: FakeWecom
) -> None:
    fake.answers["media/upload"] = [uploaded(f"up-{n}") for n in range(9)]
    other = OutboundFile(ItemKind.FILE, "a.png", "image/png", PICTURE.data)
    app = account.model_copy(update={"agent_id": 219})
    uploads = [(account, PICTURE), (account, other), (app, PICTURE)]
    assert len({door.upload(one, "ann", file, 10.0).item["media_id"] for one, file in uploads}) == 3


def test_without_redis_a_file_is_uploaded_each_time(
    api: WecomApi, door: WecomMedia, account: WecomAccount, fake: FakeWecom
) -> None:
    client = broker.connect("redis://127.0.0.1:9/0")
    away = WecomMedia(api, WecomMediaIds(client), most_bytes=1_000)
    show(away, account)
    show(away, account)
    client.close()
    assert len(fake.calls("media/upload")) == 2


def test_neither_id_nor_bytes_are_shown(door: WecomMedia, account: WecomAccount) -> None:
    shown = repr(door.upload(account, "ann", PICTURE, 10.0))
    assert "up-1" not in shown


@pytest.mark.parametrize(
    ("answer", "error"),
    [(refusal(40004), MediaRefused), (refusal(45001), MediaRefused), (refusal(-1), PlatformUnavailable),
     ({"errcode": 0}, PlatformUnavailable)],
)  # fmt: skip
def test_a_refused_upload_says_whether_another_try_may_help(
    door: WecomMedia, account: WecomAccount, fake: FakeWecom, answer: Any, error: type[Exception]
) -> None:
    fake.answers["media/upload"] = [answer]
    with pytest.raises(error):
        door.upload(account, "ann", PICTURE, 10.0)


def test_an_old_server_that_leaves_out_the_errcode_is_understood(
    door: WecomMedia, account: WecomAccount, fake: FakeWecom
) -> None:
    fake.answers["media/upload"] = [{"type": "image", "media_id": "up-9", "created_at": "1"}]
    assert door.upload(account, "ann", PICTURE, 10.0).item["media_id"] == "up-9"


def test_a_picture_that_reaches_nobody_is_a_failure(door: WecomMedia, account: WecomAccount, fake: FakeWecom) -> None:
    fake.answers["message/send"] = [{**OK, "invaliduser": "ann"}]
    with pytest.raises(RecipientRefused):
        show(door, account)
