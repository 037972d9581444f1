"""Pictures and files on their way to the engine: field reports 31 and 55, and whatever else senders come up with."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.channels.scripted_server import ScriptedServer
from tests.support.media import (
    at_the_cdn,
    document,
    document_with_a_wrong_key,
    image,
    looking,
    question,
    sent,
    stored,
    text,
    voice,
)
from tests.support.pictures import mp4, noise, pdf, png, silk
from tests.support.variations import engine
from tests.support.world import World
from wechat_bridge.errors import EngineRefused
from wechat_bridge.flow import deliver, reply
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.media import fetch as media_module
from wechat_bridge.model.media import MediaState
from wechat_bridge.model.message import ItemKind
from wechat_bridge.store import blobs


@pytest.fixture
def cdn(quick: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A channel that polls step by step and fetches from the simulated CDN."""
    monkeypatch.setattr(media_module, "PAUSE_SECONDS", 0.01)
    quick.control.clear_script()
    return at_the_cdn(quick)


@pytest.fixture
def elsewhere() -> Iterator[ScriptedServer]:
    """A server at an address that is not allowed; nobody may even connect to it."""
    with ScriptedServer(lambda exchange: exchange.answer(png())) as running:
        yield running
        assert running.connections_made == 0


@pytest.mark.parametrize("spelling", ["raw", "hex"])
def test_everything_a_person_sends_reaches_the_engine_in_order(cdn: World, spelling: str) -> None:
    world, looker = looking(cdn)
    film = {"type": 5, "video_item": {"media": world.control.put_media(mp4(), "hex")["media"], "play_length": 7}}
    turn = sent(world, text("look"), image(world, png(), spelling), document(world, pdf()), film, voice(world, silk()))
    assert question(world, turn) == "look\n[图片]\n[文件 plan.pdf]\n[视频]\n[语音，无文字]"
    [asked] = looker.asked
    assert [(each.kind, each.mime, each.size, each.label) for each in asked.media] == [
        (ItemKind.IMAGE, "image/png", 3_000, ""),
        (ItemKind.FILE, "application/pdf", 2_000, "plan.pdf"),
        (ItemKind.VIDEO, "video/mp4", 5_000, ""),
        (ItemKind.VOICE, "audio/silk", 1_200, ""),
    ]
    assert looker.read == [png(), pdf(), mp4(), silk()]
    kept = {media.sha256: media for media in stored(world, turn)}
    assert kept.keys() == {hashlib.sha256(data).hexdigest() for data in looker.read}
    assert {media.row_id for media in kept.values()} == {turn.message_ids[0]}


def test_a_voice_with_a_transcript_is_text_and_is_not_fetched(cdn: World) -> None:
    world, looker = looking(cdn)
    turn = sent(world, voice(world, silk(), "turn on the light"))
    assert question(world, turn) == "turn on the light"
    assert (looker.asked[0].media, stored(world, turn)) == ((), [])


def test_polling_goes_on_while_the_cdn_says_nothing(cdn: World) -> None:
    cdn.control.script("download", hang=True, times=None)
    began = time.monotonic()
    turn = sent(cdn, image(cdn, png()), text("look"))
    assert time.monotonic() - began < 2
    cdn.control.clear_script()
    assert question(cdn, turn) == "[图片]\nlook"


UNREADABLE: list[tuple[dict[str, Any], str]] = [
    ({"media": {"encrypt_query_param": "x"}}, "文件不存在"),
    ({"media": {"aes_key": "00" * 16}}, "没有下载地址"),
    ({}, "没有下载地址"),
    ({"media": None, "aeskey": None}, "没有下载地址"),
    ({"media": [1], "aeskey": {}}, "没有下载地址"),
    ({"media": {"full_url": "file:///etc/passwd"}}, "下载地址不被允许"),
    ({"media": {"full_url": "http://169.254.169.254/"}}, "下载地址不被允许"),
    ({"media": {"full_url": "https://192.168.1.1/x"}}, "下载地址不被允许"),
    ({"media": {"full_url": "\x00\ud83d"}}, "下载地址不被允许"),
    ({"media": {"encrypt_query_param": "x" * 100_000}}, "没有下载地址"),
]


def test_what_cannot_be_read_costs_no_text_and_says_why(cdn: World) -> None:
    world, looker = looking(cdn)
    bad = [{"type": 2, "image_item": detail} for detail, _ in UNREADABLE]
    turn = sent(world, text("before"), *bad, {"type": 4}, text("after"), image(world, png()))
    markers = [f"「图片无法读取：{reason}」" for _, reason in UNREADABLE]
    assert question(world, turn).split("\n") == [
        "before",
        *markers,
        "「文件无法读取：没有下载地址」",
        "after",
        "[图片]",
    ]
    assert looker.read == [png()]
    kept = {media.id: (media.state, media.problem) for media in stored(world, turn)}
    for position, (_, reason) in enumerate(UNREADABLE, start=1):
        assert kept[f"in:{turn.message_ids[0]}:{position}"] == (MediaState.FAILED, reason)
    deliver.deliver_reply(world.bridge, turn.id)
    assert question(world, sent(world, text("next"))) == "next"


def test_ciphertext_is_never_passed_on_nor_kept(cdn: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "CHUNK_BYTES", 100)
    monkeypatch.setattr(blobs, "CHUNKS_AT_ONCE", 1)
    chunks = cdn.bridge.media.collection.database[blobs.CHUNKS]
    before = chunks.count_documents({})
    world, looker = looking(cdn)
    no_key: dict[str, Any] = {"aes_key": None}
    wrong_key: dict[str, Any] = {"aes_key": "00" * 16}
    turn = sent(
        world,
        image(world, png(), **no_key),
        image(world, png(), **wrong_key),
        document_with_a_wrong_key(world, pdf()),
        text("look"),
    )
    assert question(world, turn) == (
        "「图片无法读取：没有密钥」\n「图片无法读取：密钥不符」\n「文件 plan.pdf 无法读取：密钥不符」\nlook"
    )
    assert looker.read == []
    assert chunks.count_documents({}) == before


def test_a_picture_that_is_not_encrypted_is_told_by_how_it_begins(cdn: World) -> None:
    world, looker = looking(cdn)
    with ScriptedServer(lambda exchange: exchange.answer(png())) as plain:
        turn = sent(world, {"type": 2, "image_item": {"media": {"full_url": f"{plain.url}/x"}}})
        assert question(world, turn) == "[图片]"
    assert looker.read == [png()]


def test_a_body_over_the_limit_is_a_marker(cdn: World) -> None:
    turn = sent(cdn, document(cdn, noise(300_000), len="12"), text("look"))
    assert question(cdn, turn) == "「文件 plan.pdf 无法读取：文件过大」\nlook"


def test_a_length_that_lies_changes_nothing(cdn: World) -> None:
    world, looker = looking(cdn)
    lies: list[object] = ["99999999999", "1", "-5", "9" * 60, "", None, [], 7]
    turn = sent(world, *(document(world, pdf(), len=lie) for lie in lies))
    assert question(world, turn) == "\n".join(["[文件 plan.pdf]"] * len(lies))
    assert looker.read == [pdf()] * len(lies)


NAMES: list[tuple[object, str]] = [
    ("../../tmp/x.py", "x.py"),
    ("/etc/passwd", "passwd"),
    ("a\x00b.txt", "ab.txt"),
    ("x" * 300, "x" * 255),
    ("", ""),
    ("..", ""),
    (None, ""),
    (7, ""),
    ("a.pdf", "a.pdf"),
    ("a.pdf", "a.pdf"),
]


def test_the_name_a_sender_gives_is_only_a_label(cdn: World) -> None:
    world, looker = looking(cdn)
    turn = sent(world, *(document(world, pdf(500 + number), name) for number, (name, _) in enumerate(NAMES)))
    question(world, turn)
    labels = [label for _, label in NAMES]
    assert [each.label for each in looker.asked[0].media] == labels
    assert looker.read == [pdf(500 + number) for number in range(len(NAMES))]
    kept = stored(world, turn)
    assert sorted(media.label for media in kept) == sorted(labels)
    assert len({media.file_id for media in kept}) == len(NAMES)
    assert all(len(media.file_id) == 32 and int(media.file_id, 16) >= 0 for media in kept)


def test_a_host_off_the_list_is_not_connected_to(cdn: World, elsewhere: ScriptedServer) -> None:
    world = at_the_cdn(cdn, cdn.control.base_url)
    detail = {"media": {"full_url": f"{elsewhere.url}/x"}, "aeskey": "00" * 16}
    turn = sent(world, {"type": 2, "image_item": detail}, image(world, png()))
    assert question(world, turn) == "「图片无法读取：下载地址不被允许」\n[图片]"


def test_neither_keys_nor_addresses_are_logged(cdn: World, capsys: pytest.CaptureFixture[str]) -> None:
    bad = image(cdn, png(), full_url="https://evil.test/x?encrypted_query_param=cGFyYW1ldGVy", aes_key="5a" * 16)
    question(cdn, sent(cdn, bad, image(cdn, png(), aes_key="5b" * 16)))
    said = "".join(capsys.readouterr())
    assert "media_unreadable" in said
    assert not [secret for secret in ("cGFyYW1ldGVy", "5a5a", "5b5b", "encrypted_query_param") if secret in said]


def test_a_dead_letter_holds_no_key(cdn: World) -> None:
    refusing, _ = engine(cdn, EngineRefused("no"))
    item = image(refusing, png(), aes_key="MDAxMTIyMzM0NDU1NjY3Nzg4OTlhYWJiY2NkZGVlZmY=")
    item["image_item"]["aeskey"] = "5a" * 16
    turn = sent(refusing, item)
    reply.generate_reply(refusing.bridge, turn.id)
    record_dead_letter(refusing.bridge, turn.id)
    letter = refusing.bridge.dead_letters.get(turn.id)
    assert letter is not None
    kept = letter.model_dump_json()
    assert "image_item" in kept
    assert not [key for key in ("MDAxMTIyMzM0", "5a5a5a") if key in kept]
