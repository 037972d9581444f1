"""Files down: by their id, whole, or with the reason why not."""

from __future__ import annotations

import json

import pytest

from tests.channels.scripted_server import Exchange, ScriptedServer
from tests.channels.wecom.conftest import SECRET
from tests.channels.wecom.fake import FakeWecom, query, refusal
from tests.support.pictures import noise
from wechat_bridge.channels.wecom.api import WecomApi
from wechat_bridge.channels.wecom.media import WecomMedia
from wechat_bridge.errors import MediaUnreadable, PlatformUnavailable
from wechat_bridge.model.media import Problem
from wechat_bridge.model.wecom import WecomAccount
from wechat_bridge.store.wecom_media_ids import WecomMediaIds

RAW = json.dumps({"MsgType": "image", "MediaId": "in-1", "MsgId": "1"})


@pytest.fixture
def door(api: WecomApi, media_ids: WecomMediaIds) -> WecomMedia:
    """The door under test."""
    return WecomMedia(api, media_ids, most_bytes=100_000)


def serving(server: ScriptedServer, fake: FakeWecom, body: bytes, *headers: str, status: str = "200 OK") -> None:
    """Let ``media/get`` answer so."""

    def script(exchange: Exchange) -> None:
        if "/media/get" not in exchange.request.path:
            fake.script(exchange)
            return
        fake.received.append(exchange.request)
        exchange.answer(body, status, *headers)

    server.script = script


def fetched(door: WecomMedia, account: WecomAccount, raw: str = RAW, position: int = 0) -> bytes:
    pieces: list[bytes] = []
    door.fetch(account, raw, position, pieces.append, 10.0)
    return b"".join(pieces)


NAMED = 'Content-Disposition: attachment; filename="1.png"'


@pytest.mark.parametrize("size", [1, 100, 4_096, 4_097, 90_000])
def test_a_file_comes_down_whole_whatever_its_size(
    door: WecomMedia, account: WecomAccount, server: ScriptedServer, fake: FakeWecom, size: int
) -> None:
    data = noise(size)
    serving(server, fake, data, NAMED, "Content-Type: image/png")
    assert fetched(door, account) == data
    assert query(fake.calls("media/get")[0]) == {"access_token": "t1", "media_id": "in-1"}


def test_a_document_that_is_json_itself_is_a_document(
    door: WecomMedia, account: WecomAccount, server: ScriptedServer, fake: FakeWecom
) -> None:
    data = b'{"errcode": 40007, "note": "a file that somebody sent"}'
    serving(server, fake, data, 'Content-Disposition: attachment; filename="a.json"', "Content-Type: application/json")
    assert fetched(door, account) == data


@pytest.mark.parametrize(
    ("code", "problem"), [(40007, Problem.EXPIRED), (40004, Problem.REFUSED), (60020, Problem.REFUSED)]
)
def test_json_instead_of_a_file_says_why_and_nothing_of_it_is_kept(
    door: WecomMedia, account: WecomAccount, fake: FakeWecom, code: int, problem: Problem
) -> None:
    fake.answers["media/get"] = [refusal(code)]
    pieces: list[bytes] = []
    with pytest.raises(MediaUnreadable) as caught:
        door.fetch(account, RAW, 0, pieces.append, 10.0)
    assert caught.value.problem == problem
    assert str(code) in str(caught.value)
    assert pieces == []


@pytest.mark.parametrize("code", [-1, 45033, 45009])
def test_what_may_pass_may_be_asked_again(door: WecomMedia, account: WecomAccount, fake: FakeWecom, code: int) -> None:
    fake.answers["media/get"] = [refusal(code)]
    with pytest.raises(PlatformUnavailable):
        fetched(door, account)


def test_an_expired_token_is_renewed_for_a_download_too(
    door: WecomMedia, account: WecomAccount, fake: FakeWecom
) -> None:
    fake.answers["media/get"] = [refusal(42001), refusal(40007)]
    with pytest.raises(MediaUnreadable):
        fetched(door, account)
    assert fake.tokens_used("media/get") == ["t1", "t2"]


def test_a_file_that_is_too_large_is_not_taken(
    door: WecomMedia, account: WecomAccount, server: ScriptedServer, fake: FakeWecom
) -> None:
    serving(server, fake, noise(100_001), NAMED)
    with pytest.raises(MediaUnreadable) as caught:
        fetched(door, account)
    assert caught.value.problem == Problem.TOO_LARGE


def test_a_server_that_fails_may_be_asked_again(
    door: WecomMedia, account: WecomAccount, server: ScriptedServer, fake: FakeWecom
) -> None:
    serving(server, fake, b"", status="502 Bad Gateway")
    with pytest.raises(PlatformUnavailable, match="HTTP 502"):
        fetched(door, account)


@pytest.mark.parametrize(
    ("raw", "position"), [(RAW, 1), ("{}", 0), ("[]", 0), ("no json", 0), ('{"MediaId": 5}', 0), ('{"MediaId": ""}', 0)]
)
def test_a_part_without_an_id_is_not_asked_for(
    door: WecomMedia, account: WecomAccount, fake: FakeWecom, raw: str, position: int
) -> None:
    with pytest.raises(MediaUnreadable):
        fetched(door, account, raw, position)
    assert fake.received == []


def test_no_secret_is_in_the_error_of_a_download(door: WecomMedia, account: WecomAccount, fake: FakeWecom) -> None:
    fake.answers["media/get"] = [refusal(40004, f"with {SECRET}")]
    with pytest.raises(MediaUnreadable) as caught:
        fetched(door, account)
    assert SECRET not in f"{caught.value!r}"
