"""Media in their stores: whole or not at all, under names nobody chose, and found again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pymongo.database import Database

from tests.support.pictures import noise, pdf, png
from wechat_bridge.errors import LedgerUnavailable, MediaUnreadable
from wechat_bridge.model import keys
from wechat_bridge.model.media import Media, MediaState
from wechat_bridge.model.message import ItemKind
from wechat_bridge.store import ledger
from wechat_bridge.store.blobs import CHUNK_BYTES, Blobs, ChunkBlobs, FolderBlobs
from wechat_bridge.store.ledger import Document
from wechat_bridge.store.media import MediaStore

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def database(urls: tuple[str, str]) -> Iterator[Database[Document]]:
    client = ledger.connect(urls[1])
    yield ledger.database(client)
    client.close()


@pytest.fixture(params=["chunks", "folder"])
def blobs(request: pytest.FixtureRequest, database: Database[Document], tmp_path: Path) -> Blobs:
    return ChunkBlobs(database) if request.param == "chunks" else FolderBlobs(tmp_path / "media")


@pytest.fixture
def media(database: Database[Document], blobs: Blobs) -> MediaStore:
    return MediaStore(database, blobs)


def piece(name: str | None = None, **fields: object) -> Media:
    values = {
        "id": name or f"in:channel:{keys.new_token()}:0",
        "turn_id": "turn",
        "file_id": keys.new_file_name(),
        "kind": ItemKind.FILE,
        "label": "plan.pdf",
        "at": NOW,
    }
    return Media.model_validate({**values, **fields})


@pytest.mark.parametrize("size", [0, 1, 261_119, 261_120, 261_121, 5_000_000])
def test_bytes_come_back_as_they_went_in(media: MediaStore, size: int) -> None:
    stored = media.put(piece(), noise(size))
    assert (stored.state, stored.size, stored.sha256) == (
        MediaState.STORED,
        size,
        hashlib.sha256(noise(size)).hexdigest(),
    )
    assert media.get(stored.id) == stored
    assert media.read(stored) == noise(size)
    pieces = list(media.pieces(stored))
    assert b"".join(pieces) == noise(size)
    assert all(0 < len(each) <= CHUNK_BYTES for each in pieces)


def test_what_is_removed_while_it_is_being_read_piece_by_piece_ends_with_an_error(media: MediaStore) -> None:
    stored = media.put(piece(), noise(2 * CHUNK_BYTES))
    pieces = media.pieces(stored)
    assert next(pieces) == noise(2 * CHUNK_BYTES)[:CHUNK_BYTES]
    media.remove([stored.id])
    with pytest.raises(MediaUnreadable, match=f"{CHUNK_BYTES} bytes of {2 * CHUNK_BYTES} are missing"):
        next(pieces)


def test_the_type_is_what_the_bytes_show_whatever_was_said(media: MediaStore) -> None:
    assert media.put(piece(mime="image/png"), pdf()).mime == "application/pdf"
    assert media.put(piece(mime="model/obj", label=""), b"hello").mime == "model/obj"
    tiny = media.receive(piece())
    for byte in png():
        tiny.write(bytes([byte]))
    assert tiny.complete().mime == "image/png"


def test_what_is_stored_already_stays(media: MediaStore) -> None:
    first = media.put(piece("out:turn:1:0"), b"first")
    assert media.put(piece("out:turn:1:0"), b"second") == first
    assert media.read(first) == b"first"
    media.remove([first.id])


def test_what_comes_in_is_not_there_before_it_is_complete(media: MediaStore) -> None:
    receiving = media.receive(incoming := piece())
    receiving.write(png())
    found = media.get(incoming.id)
    assert found is not None
    assert found.state is MediaState.RECEIVING
    with pytest.raises(MediaUnreadable):
        media.read(incoming)
    receiving.discard()
    with pytest.raises(MediaUnreadable):
        media.read(incoming)


def test_a_second_attempt_leaves_nothing_of_the_first(media: MediaStore, database: Database[Document]) -> None:
    broken = piece()
    media.receive(broken).write(noise(5_000_000))
    again = media.receive(broken.model_copy(update={"file_id": keys.new_file_name()}))
    again.write(b"whole")
    stored = again.complete()
    assert media.read(stored) == b"whole"
    with pytest.raises(MediaUnreadable):
        media.read(broken.model_copy(update={"size": 5_000_000, "state": MediaState.STORED}))
    assert database["media.chunks"].count_documents({"files_id": broken.file_id}) == 0


def test_of_two_workers_the_later_beginning_counts(media: MediaStore) -> None:
    first = piece()
    slow = media.receive(first)
    slow.write(b"slow")
    quick = media.put(first.model_copy(update={"file_id": keys.new_file_name()}), b"quick")
    with pytest.raises(LedgerUnavailable):
        slow.complete()
    assert media.get(first.id) == quick
    assert media.read(quick) == b"quick"
    with pytest.raises(MediaUnreadable):
        media.read(first.model_copy(update={"size": 4, "state": MediaState.STORED}))


def test_bytes_that_are_not_all_there_are_not_given_out(media: MediaStore) -> None:
    stored = media.put(piece(), b"four")
    with pytest.raises(MediaUnreadable, match="4 bytes of 5"):
        media.read(stored.model_copy(update={"size": 5}))


def test_a_problem_is_kept_without_bytes(media: MediaStore) -> None:
    failed = piece(state=MediaState.FAILED, problem="文件不存在")
    media.note(failed)
    assert media.get(failed.id) == failed
    assert media.get("in:channel:nobody:0") is None


def test_old_pieces_are_found_by_their_time_and_removed_with_their_bytes(media: MediaStore) -> None:
    since = NOW - timedelta(days=int.from_bytes(noise(1, keys.new_token())) + 100)
    old = media.put(piece(at=since + timedelta(hours=1), turn_id="old turn"), png())
    media.note(failed := piece(at=since + timedelta(hours=1), state=MediaState.FAILED))
    found = media.old(since, since + timedelta(hours=2))
    assert {(row["_id"], row["turn_id"]) for row in found} >= {(old.id, "old turn"), (failed.id, "turn")}
    media.remove([old.id, failed.id, "in:nobody:0"])
    assert media.get(old.id) is None
    with pytest.raises(MediaUnreadable):
        media.read(old)


def test_a_folder_holds_generated_names_only_and_its_user_alone_may_look(
    database: Database[Document], tmp_path: Path
) -> None:
    folder = tmp_path / "deep" / "media"
    media = MediaStore(database, FolderBlobs(folder))
    stored = media.put(piece(label="../../x.py"), b"x")
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == [stored.file_id]
    assert len(stored.file_id) == 32
    assert int(stored.file_id, 16) >= 0
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_used_is_named(database: Database[Document], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    media = MediaStore(database, FolderBlobs(tmp_path / "file"))
    with pytest.raises(LedgerUnavailable, match="WECHAT_BRIDGE_MEDIA__FOLDER"):
        media.put(piece(), b"x")
