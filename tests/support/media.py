"""Messages with pictures and files, fetched from the simulated CDN, and an engine that looks at them."""

from __future__ import annotations

from typing import Any

from tests.support.variations import using
from tests.support.world import LOOPBACK, World
from wechat_bridge.channels.ilink.media import IlinkMedia
from wechat_bridge.engines.base import Answer, AnswerFile, Question
from wechat_bridge.flow import reply
from wechat_bridge.model.channel import ChannelKind
from wechat_bridge.model.media import Media
from wechat_bridge.model.turn import Turn, TurnState
from wechat_bridge.simulators.ilink import media_store
from wechat_bridge.store.ledger import from_document

MOST_BYTES = 200_000


def at_the_cdn(world: World, *origins: str) -> World:
    """The world whose media door knows where the simulated CDN is."""
    cdn_base_url = f"{world.control.base_url}/c2c"
    door = IlinkMedia(
        world.wired.http, origins=origins or (LOOPBACK,), cdn_base_url=cdn_base_url, most_bytes=MOST_BYTES
    )
    return using(world, media_doors={ChannelKind.ILINK: door})


def image(world: World, data: bytes, spelling: str = "raw", **fields: Any) -> dict[str, Any]:
    """A picture as a phone sends it; ``fields`` replace those of its CDN reference."""
    file = world.control.put_media(data, spelling)
    return {"type": 2, "image_item": {"media": {**file["media"], **fields}, "mid_size": file["size"]}}


def document(world: World, data: bytes, name: object = "plan.pdf", **fields: Any) -> dict[str, Any]:
    """A document as a phone sends it; ``fields`` are its own."""
    file = world.control.put_media(data, "hex")
    return {"type": 4, "file_item": {"file_name": name, "len": str(len(data)), "media": file["media"], **fields}}


def document_with_a_wrong_key(world: World, data: bytes) -> dict[str, Any]:
    """A document whose key does not open it; of all wrong keys one in 256 seems to."""
    file = world.control.put_media(data)
    ciphertext = media_store.encrypt(data, bytes.fromhex(file["aeskey"]))
    wrong = next(key for key in (bytes([n]) * 16 for n in range(100)) if media_store.decrypt(ciphertext, key) is None)
    detail = {"file_name": "plan.pdf", "media": {**file["media"], "aes_key": wrong.hex()}}
    return {"type": 4, "file_item": detail}


def voice(world: World, data: bytes, text: str = "") -> dict[str, Any]:
    """A voice as a phone sends it."""
    detail = {"media": world.control.put_media(data, "hex")["media"], "encode_type": 4, "playtime": 2380}
    return {"type": 3, "voice_item": {**detail, **({"text": text} if text else {})}}


def text(words: str) -> dict[str, Any]:
    """A text."""
    return {"type": 1, "text_item": {"text": words}}


def sent(world: World, *items: dict[str, Any]) -> Turn:
    """The turn of one message of ann with these items, received by a poll."""
    world.control.send_items(world.bot_id, world.user(), list(items))
    world.poll()
    world.make_due()
    turn = world.flush()
    assert turn is not None
    return turn


def question(world: World, turn: Turn) -> str:
    """The question of a turn once it is answered."""
    reply.generate_reply(world.bridge, turn.id)
    answered = world.turn(turn.id)
    assert answered.state is TurnState.GENERATED, answered.error
    return answered.question or ""


def stored(world: World, turn: Turn) -> list[Media]:
    """What the ledger knows of the media of a turn, in no order."""
    media = world.bridge.media
    return [from_document(Media, media.collection, row) for row in media.collection.find({"turn_id": turn.id})]


class LookingEngine:
    """Reads all it is given, and answers with a text and files; ``leases`` are what was left of the turn's, in s."""

    name = "echo"

    def __init__(self, world: World, answer: str, *files: AnswerFile) -> None:
        self._world = world
        self.asked: list[Question] = []
        self.read: list[bytes] = []
        self.leases: list[float] = []
        self._answer = Answer(text=answer, files=files)

    def answer(self, question: Question) -> Answer:
        """Look, remember, answer."""
        self.asked.append(question)
        self.leases.append(self._lease_seconds(question))
        self.read += [attachment.read() for attachment in question.media]
        return self._answer

    def _lease_seconds(self, question: Question) -> float:
        lease_until = self._world.turn(question.turn_id).lease_until
        assert lease_until is not None
        return (lease_until - self._world.bridge.clock.now()).total_seconds()


def looking(world: World, answer: str = "seen", *files: AnswerFile) -> tuple[World, LookingEngine]:
    """The world with an engine that looks, and the engine."""
    engine = LookingEngine(world, answer, *files)
    return using(world, engines={"echo": engine}), engine
