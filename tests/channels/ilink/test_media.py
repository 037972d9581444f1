"""Downloads: what comes through, and everything that must not."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.channels.calls import wait_until
from tests.channels.leaks import everything_said_by
from tests.channels.scripted_server import Exchange, ScriptedServer
from tests.support.pictures import pdf, png
from wechat_bridge.channels.base import MediaDoor
from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.ilink.crypto import encrypt
from wechat_bridge.channels.ilink.media import IlinkMedia
from wechat_bridge.errors import MediaUnreadable, PlatformUnavailable
from wechat_bridge.model.channel import Account
from wechat_bridge.model.media import Problem

KEY = bytes.fromhex("00112233445566778899aabbccddeeff")
MOST = 10_000
PARAMETER = "cGFyYW1ldGVy"


@pytest.fixture
def elsewhere() -> Iterator[ScriptedServer]:
    """A server at an address that is not allowed; nobody may even connect to it."""
    with ScriptedServer(lambda exchange: exchange.answer(png())) as running:
        yield running
        assert running.connections_made == 0


def door_to(http: HttpClient, *origins: str, cdn: str = "https://novac2c.cdn.weixin.qq.com/c2c") -> MediaDoor:
    return IlinkMedia(http, origins=origins, cdn_base_url=cdn, most_bytes=MOST)


@pytest.fixture
def door(http: HttpClient, server: ScriptedServer) -> MediaDoor:
    """Allowed to ask the CDN of the test, and nobody else."""
    return door_to(http, server.url, cdn=f"{server.url}/c2c")


def message(kind: str = "image", key: str | None = KEY.hex(), **media: object) -> str:
    number = {"image": 2, "voice": 3, "file": 4, "video": 5}[kind]
    detail: dict[str, Any] = {"media": {"encrypt_query_param": "a+/=", "aes_key": key, **media}}
    return json.dumps({"item_list": [{"type": number, f"{kind}_item": detail}]})


NOBODY = Account(token="", account_id="", base_url="")


def fetched(door: MediaDoor, raw: str, seconds: float = 10.0) -> bytes:
    got: list[bytes] = []
    door.fetch(NOBODY, raw, 0, got.append, seconds)
    return b"".join(got)


def problem(door: MediaDoor, raw: str, seconds: float = 10.0) -> str:
    with pytest.raises(MediaUnreadable) as caught:
        fetched(door, raw, seconds)
    return caught.value.problem


@pytest.mark.parametrize(("kind", "data"), [("image", png()), ("file", pdf()), ("video", b"x"), ("voice", b"")])
def test_media_are_asked_for_without_credentials_and_decrypted(
    door: MediaDoor, server: ScriptedServer, kind: str, data: bytes
) -> None:
    server.script = lambda exchange: exchange.answer(encrypt(data, KEY))
    assert fetched(door, message(kind)) == data
    [request] = server.received
    assert (request.method, request.path) == ("GET", "/c2c/download?encrypted_query_param=a%2B%2F%3D")
    assert "authorization" not in request.headers


def test_a_full_url_goes_before_the_parameter(door: MediaDoor, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.answer(encrypt(png(), KEY))
    fetched(door, message(full_url=f"{server.url}/full?x=1"))
    assert [request.path for request in server.received] == ["/full?x=1"]


@pytest.mark.parametrize("key", [None, "00" * 16])
def test_a_picture_that_is_not_encrypted_is_taken_as_it_is(
    door: MediaDoor, server: ScriptedServer, key: str | None
) -> None:
    server.script = lambda exchange: exchange.answer(png())
    assert fetched(door, message(key=key)) == png()


@pytest.mark.parametrize("key", [None, 7, "no key", {"a": 1}])
def test_without_a_key_a_document_is_not_even_asked_for(door: MediaDoor, server: ScriptedServer, key: Any) -> None:
    assert problem(door, message("file", key=key)) == Problem.NO_KEY
    assert server.connections_made == 0


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.1/",
        "http://[::1]:{port}/",
        "http://localhost:{port}/",
        "http://127.0.0.1:{port}/",
        "http://a.weixin.qq.com@127.0.0.1:{port}/",
        "https://127.0.0.1:{port}/#.weixin.qq.com",
        "http://0x7f000001:{port}/",
        "//127.0.0.1:{port}/",
        "/etc/passwd",
        "ftp://127.0.0.1:{port}/",
    ],
)
def test_a_host_off_the_list_is_never_connected_to(http: HttpClient, elsewhere: ScriptedServer, url: str) -> None:
    door = door_to(http, "https://*.weixin.qq.com", "http://127.0.0.1:9")
    assert problem(door, message(full_url=url.format(port=elsewhere.port))) == Problem.BAD_ADDRESS


@pytest.mark.parametrize(
    "to", ["http://127.0.0.1:{port}/x", "file:///etc/passwd", "http://169.254.169.254/", "//[::1]/x"]
)
@pytest.mark.parametrize("status", ["302 Found", "307 Temporary Redirect"])
def test_a_redirect_off_the_list_is_not_followed(
    door: MediaDoor, server: ScriptedServer, elsewhere: ScriptedServer, status: str, to: str
) -> None:
    location = f"Location: {to.format(port=elsewhere.port)}"
    server.script = lambda exchange: exchange.answer(png(), status, location)
    assert problem(door, message()) == Problem.BAD_ADDRESS
    assert len(server.received) == 1


def test_a_redirect_within_the_list_is_followed(door: MediaDoor, server: ScriptedServer) -> None:
    def script(exchange: Exchange) -> None:
        if exchange.request.path.startswith("/c2c"):
            exchange.answer(b"moved", "302 Found", "Location: /there?a=b")
        else:
            exchange.answer(encrypt(png(), KEY))

    server.script = script
    assert fetched(door, message()) == png()
    assert server.received[-1].path == "/there?a=b"


def test_redirects_in_a_circle_end(door: MediaDoor, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.answer(b"", "302 Found", f"Location: {server.url}/round")
    assert problem(door, message()) == Problem.REFUSED
    assert len(server.received) == 4


def test_a_redirect_without_an_address_ends(door: MediaDoor, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.answer(b"", "302 Found")
    assert problem(door, message()) == Problem.REFUSED


@pytest.mark.parametrize(
    ("status", "found"),
    [("404 Not Found", Problem.NOT_FOUND), ("410 Gone", Problem.NOT_FOUND), ("403 Forbidden", Problem.REFUSED)],
)
def test_what_the_server_refuses_is_not_asked_for_again(
    door: MediaDoor, server: ScriptedServer, status: str, found: Problem
) -> None:
    server.script = lambda exchange: exchange.answer(png(), status)
    assert problem(door, message()) == found


@pytest.mark.parametrize("status", ["500 Oops", "503 Busy", "524 A Timeout Occurred", "204 No Content", "206 Partial"])
def test_a_server_that_fails_may_be_asked_again(door: MediaDoor, server: ScriptedServer, status: str) -> None:
    server.script = lambda exchange: exchange.answer(b"" if status.startswith("204") else png(), status)
    with pytest.raises(PlatformUnavailable):
        fetched(door, message())


def test_a_body_that_breaks_off_is_never_taken_for_whole(door: MediaDoor, server: ScriptedServer) -> None:
    def script(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + png(1_000))
        exchange.cut()

    server.script = script
    with pytest.raises(PlatformUnavailable):
        fetched(door, message(key=None))


@pytest.mark.parametrize("size", [MOST + 32, 10 * MOST])
def test_too_large_is_noticed_whatever_the_message_says(door: MediaDoor, server: ScriptedServer, size: int) -> None:
    server.script = lambda exchange: exchange.answer(png(size))
    assert problem(door, message(key=None)) == Problem.TOO_LARGE


def test_the_largest_file_still_comes_through(door: MediaDoor, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.answer(encrypt(png(MOST), KEY))
    assert fetched(door, message()) == png(MOST)


def test_a_body_without_end_is_cut_at_the_limit(door: MediaDoor, server: ScriptedServer) -> None:
    def script(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + png(64))
        exchange.drip(itertools.repeat(b"x" * 4_096), every_seconds=0.001)

    server.script = script
    assert problem(door, message(key=None)) == Problem.TOO_LARGE


def test_a_dripping_body_takes_its_time_and_no_more(door: MediaDoor, server: ScriptedServer) -> None:
    def script(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + png(64))
        exchange.drip(itertools.repeat(b"x"))

    server.script = script
    began = time.monotonic()
    assert problem(door, message(key=None), seconds=0.4) == Problem.TOO_SLOW
    assert time.monotonic() - began < 3
    assert problem(door, message(), seconds=0.0) == Problem.TOO_SLOW


def test_a_connection_with_a_rest_in_it_is_not_used_again(door: MediaDoor, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.answer(png(100 * MOST))
    problem(door, message(key=None))
    server.script = lambda exchange: exchange.answer(png())
    assert fetched(door, message(key=None)) == png()
    assert server.connections_made == 2


def test_a_fetch_ends_when_this_process_stops(door: MediaDoor, server: ScriptedServer, http: HttpClient) -> None:
    server.script = Exchange.hold
    with ThreadPoolExecutor(1) as pool:
        fetch = pool.submit(fetched, door, message())
        wait_until(lambda: bool(server.received))
        http.cut_all()
        assert isinstance(fetch.exception(5), PlatformUnavailable)


def test_neither_keys_nor_parameters_are_in_an_error(door: MediaDoor, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.answer(b"x", "503 Busy")
    with pytest.raises(PlatformUnavailable) as caught:
        fetched(door, message(full_url=f"{server.url}/x?encrypted_query_param={PARAMETER}"))
    said = everything_said_by(caught.value)
    with pytest.raises(MediaUnreadable) as refused:
        fetched(door, message(full_url=f"https://user:{PARAMETER}@evil.test/x?encrypted_query_param={PARAMETER}"))
    said += everything_said_by(refused.value)
    assert PARAMETER not in said
    assert KEY.hex() not in said
