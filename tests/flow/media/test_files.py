"""Pictures and files of an answer: kept before the first send, uploaded before each, never asked for twice."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.flow.delivering import send, sends_left, states
from tests.support.media import MOST_BYTES, LookingEngine, at_the_cdn, looking, sent, stored, text
from tests.support.pictures import mp4, noise, pdf, png, silk
from tests.support.variations import failing, setting, using
from tests.support.world import World
from wechat_bridge.engines.base import AnswerFile
from wechat_bridge.errors import BridgeError, LedgerUnavailable, PlatformUnavailable
from wechat_bridge.flow import deliver, reply
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.dead_letters.replay import replay
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.model import keys
from wechat_bridge.model.media import MediaState
from wechat_bridge.model.message import ItemKind
from wechat_bridge.model.outcome import Done, GiveUp, RetryIn
from wechat_bridge.model.turn import ChunkState, Turn, TurnState

PICTURE = AnswerFile(ItemKind.IMAGE, "", "image/png", png())
DOCUMENT = AnswerFile(ItemKind.FILE, "plan.pdf", "application/pdf", pdf())


@pytest.fixture
def cdn(quick: World) -> World:
    """A channel that polls step by step and uploads to the simulated CDN, without waits."""
    quick.control.clear_script()
    quick.control.set_options(quick.bot_id, check_context_token=True)
    return at_the_cdn(setting(quick, "reply", pacing_seconds=0.0))


def answered(world: World, answer: str, *files: AnswerFile) -> tuple[World, LookingEngine, Turn]:
    """A world whose engine answers so, the engine, and a turn whose answer is stored."""
    world, engine = looking(world, answer, *files)
    turn = sent(world, text("draw"))
    reply.generate_reply(world.bridge, turn.id)
    return world, engine, world.turn(turn.id)


def seen(world: World) -> list[tuple[str, bytes]]:
    """What ann sees: texts, and files with the name of their item."""
    return [_seen(world, row["item"]) for row in world.control.deliveries(world.user())]


def _seen(world: World, item: dict[str, Any]) -> tuple[str, bytes]:
    if item["type"] == 1:
        return "text", item["text_item"]["text"].encode()
    [name] = [name for name in item if name.endswith("_item")]
    return name, world.control.get_media(item[name]["media"]["encrypt_query_param"])


def test_a_picture_a_film_a_document_and_a_sound_arrive_after_the_text(cdn: World) -> None:
    sound = AnswerFile(ItemKind.VOICE, "hello.silk", "audio/silk", silk())
    film = AnswerFile(ItemKind.VIDEO, "", "video/mp4", mp4())
    world, engine, turn = answered(cdn, "here", PICTURE, film, DOCUMENT, sound)
    assert seen(world) == []
    assert [chunk.client_id for chunk in turn.chunks] == [keys.client_id(turn.id, number) for number in range(5)]
    kept = {each.id: each for each in stored(world, turn)}
    assert [kept[chunk.media_id or ""].size for chunk in turn.chunks[1:]] == [3_000, 5_000, 2_000, 1_200]
    assert send(world, turn) == Done()
    assert seen(world) == [
        ("text", b"here"), ("image_item", png()), ("video_item", mp4()), ("file_item", pdf()), ("file_item", silk()),
    ]  # fmt: skip
    rows = world.control.deliveries(world.user())
    assert all(row["media_readable"] for row in rows[1:])
    assert [row["client_id"] for row in rows] == [chunk.client_id for chunk in turn.chunks]
    assert [row["item"]["file_item"]["file_name"] for row in rows[3:]] == ["plan.pdf", "hello.silk"]
    assert world.turn(turn.id).state is TurnState.SENT
    assert len(engine.asked) == 1


def test_a_file_alone_is_an_answer(cdn: World) -> None:
    world, _, turn = answered(cdn, " ", PICTURE)
    assert [(chunk.text, bool(chunk.media_id)) for chunk in turn.chunks] == [("", True)]
    send(world, turn)
    assert seen(world) == [("image_item", png())]


def test_each_file_counts_against_the_send_budget(cdn: World) -> None:
    world, _, turn = answered(setting(cdn, "reply", sends_per_message=4), "text", PICTURE, DOCUMENT)
    send(world, turn)
    assert sends_left(world) == 1


def test_a_long_text_leaves_room_for_the_files(cdn: World) -> None:
    small = setting(cdn, "reply", sends_per_message=4, chunk_characters=16, chunk_bytes=64)
    world, _, turn = answered(small, "word " * 100, PICTURE, DOCUMENT)
    assert len(turn.chunks) == 4
    assert send(world, turn) == Done()
    assert [name for name, _ in seen(world)] == ["text", "text", "image_item", "file_item"]


def test_files_beyond_the_budget_wait_for_the_next_message(cdn: World) -> None:
    world, engine, turn = answered(setting(cdn, "reply", sends_per_message=2), "text", PICTURE, DOCUMENT)
    send(world, turn)
    assert (world.turn(turn.id).state, world.turn(turn.id).park_reason) == (TurnState.PARKED, "send_budget")
    world.control.send_items(world.bot_id, world.user(), [text("more")])
    world.poll()
    world.make_due()
    world.flush()
    assert send(world, turn) == Done()
    assert [name for name, _ in seen(world)] == ["text", "image_item", "file_item"]
    assert len(engine.asked) == 1


@pytest.mark.parametrize(("label", "said"), [("big.bin", " big.bin "), ("", "")])
def test_a_file_too_large_to_send_is_named_and_the_rest_is_sent(cdn: World, label: str, said: str) -> None:
    large = AnswerFile(ItemKind.FILE, label, "", noise(MOST_BYTES + 1))
    small = setting(cdn, "media", most_bytes=MOST_BYTES)
    world, _, turn = answered(small, "here", large, PICTURE)
    send(world, turn)
    assert seen(world) == [("text", f"here\n（文件{said}过大，未能发送。）".encode()), ("image_item", png())]


def test_a_name_that_is_a_path_is_not_sent_on(cdn: World) -> None:
    world, _, turn = answered(cdn, "", AnswerFile(ItemKind.FILE, "../../etc/\ud83dx.pdf", "\x00" * 500, pdf()))
    send(world, turn)
    [row] = world.control.deliveries(world.user())
    assert row["item"]["file_item"]["file_name"] == "x.pdf"
    assert stored(world, turn)[0].mime == "application/pdf"


class Flaky:
    """The door of the simulated CDN, failing as told before it works; remembers what was uploaded."""

    def __init__(self, door: Any, **failures: list[BridgeError]) -> None:
        self.uploads = 0
        self._door = door
        self._failures = failures
        self.fetch = door.fetch

    def upload(self, *given: Any) -> Any:
        self.uploads += 1
        return self._call("upload", *given)

    def send(self, *given: Any) -> Any:
        return self._call("send", *given)

    def _call(self, name: str, *given: Any) -> Any:
        if failures := self._failures.get(name):
            raise failures.pop(0)
        return getattr(self._door, name)(*given)


def flaky(world: World, **failures: list[BridgeError]) -> tuple[World, Flaky]:
    [(kind, door)] = world.bridge.media_doors.items()
    broken = Flaky(copy.copy(door), **failures)
    return using(world, media_doors={kind: broken}), broken


def test_a_failed_send_is_repeated_with_the_same_id_and_without_the_engine(cdn: World) -> None:
    world, door = flaky(cdn, send=[PlatformUnavailable("cut")])
    world, engine, turn = answered(world, "here", PICTURE)
    assert isinstance(send(world, turn), RetryIn)
    assert states(world, turn) == [ChunkState.ACCEPTED, ChunkState.SENDING]
    assert send(world, turn) == Done()
    assert seen(world) == [("text", b"here"), ("image_item", png())]
    assert world.control.deliveries(world.user())[1]["client_id"] == keys.client_id(turn.id, 1)
    assert (door.uploads, len(engine.asked)) == (2, 1)
    assert sends_left(world) == world.bridge.settings.reply.sends_per_message - 2


def test_an_upload_that_fails_costs_no_send_and_marks_nothing(cdn: World) -> None:
    world, engine, turn = answered(cdn, "here", PICTURE)
    world.control.script("upload", status=500, body="", times=3)
    assert isinstance(send(world, turn), RetryIn)
    assert states(world, turn) == [ChunkState.ACCEPTED, ChunkState.WAITING]
    assert sends_left(world) == world.bridge.settings.reply.sends_per_message - 1
    assert send(world, turn) == Done()
    assert seen(world) == [("text", b"here"), ("image_item", png())]
    assert len(engine.asked) == 1


def test_an_upload_the_cdn_refuses_is_a_dead_letter_that_can_be_replayed(cdn: World) -> None:
    world, engine, turn = answered(cdn, "here", PICTURE)
    world.control.script("upload", status=413, body="")
    assert isinstance(send(world, turn), GiveUp)
    record_dead_letter(world.bridge, turn.id)
    letter = world.bridge.dead_letters.get(turn.id)
    assert letter is not None
    assert (letter.stage, letter.error_class) == ("deliver", "MediaRefused")
    assert replay(world.bridge, turn.id, "test") == "the stored answer is sent"
    assert send(world, turn) == Done()
    apology = ("text", world.bridge.settings.reply.apology.encode())
    assert [each for each in seen(world) if each != apology] == [("text", b"here"), ("image_item", png())]
    assert len(engine.asked) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [({"ret": -2, "errmsg": "no media for you"}, "send_refused"), ({"errcode": -14}, "login_needed")],
)
def test_a_refused_upload_address_parks_the_rest(cdn: World, answer: dict[str, Any], reason: str) -> None:
    world, _, turn = answered(cdn, "here", PICTURE)
    world.control.script("getuploadurl", world.bot_id, answer=answer)
    send(world, turn)
    assert (world.turn(turn.id).state, world.turn(turn.id).park_reason) == (TurnState.PARKED, reason)
    assert states(world, turn) == [ChunkState.ACCEPTED, ChunkState.WAITING]
    assert world.channel.status_reason == ("login_needed" if reason == "login_needed" else "")


def test_a_channel_that_takes_text_only_says_so(cdn: World) -> None:
    world, _, turn = answered(using(cdn, media_doors={}), "here", PICTURE)
    assert send(world, turn) == GiveUp("MediaRefused: channel " + world.share_id + " takes text only")


def test_a_file_that_is_gone_is_a_dead_letter(cdn: World) -> None:
    world, _, turn = answered(cdn, "here", PICTURE)
    world.bridge.media.remove([turn.chunks[1].media_id or ""])
    assert isinstance(send(world, turn), GiveUp)


def test_who_lost_the_claim_uploads_nothing(cdn: World) -> None:
    world, door = flaky(cdn)
    world, _, turn = answered(world, "", PICTURE)
    stealing = _stolen(world)
    assert deliver.deliver_reply(stealing.bridge, turn.id) == Done()
    assert (door.uploads, seen(world)) == (0, [])


def _stolen(world: World) -> World:
    """The world in which another worker takes the turn just after this one has."""
    claim: Callable[..., Turn | None] = world.bridge.turns.claim

    def steal(*given: Any) -> Turn | None:
        turn = claim(*given)
        if turn is not None:
            world.bridge.turns.collection.update_one({"_id": turn.id}, {"$inc": {"fence": 1}})
        return turn

    turns = copy.copy(world.bridge.turns)
    object.__setattr__(turns, "claim", steal)
    return using(world, turns=turns)


def test_a_ledger_that_refuses_the_answer_once_keeps_each_file_once(cdn: World) -> None:
    broken = failing(using(cdn, unfinished=Unfinished()), "turns", "release", LedgerUnavailable("away"))
    world, engine = looking(broken, "here", PICTURE)
    turn = sent(world, text("draw"))
    with pytest.raises(LedgerUnavailable):
        reply.generate_reply(world.bridge, turn.id)
    world.bridge.unfinished.work_off()
    assert [each.state for each in stored(world, turn)] == [MediaState.STORED]
    assert send(world, world.turn(turn.id)) == Done()
    assert seen(world) == [("text", b"here"), ("image_item", png())]
    assert len(engine.asked) == 1
