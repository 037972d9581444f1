"""The ``media`` collection: what is known of every picture and file, and the way to its bytes.

The document comes first, naming the bytes that are about to be written, so that a process that ends in between leaves
nothing behind that nobody knows of.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import count

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from wechat_bridge.errors import LedgerUnavailable, MediaUnreadable
from wechat_bridge.model.media import HEAD_BYTES, UNKNOWN_MIME, Media, MediaState, Problem, mime_of
from wechat_bridge.store.blobs import Blobs, BlobWriter
from wechat_bridge.store.ledger import Document, from_document, ledger_call, to_document

INDEXES = [IndexModel([("at", ASCENDING)], name="at")]

MOST = 200
"""Documents of one answer about old ones."""


class Receiving:
    """One piece of media while its bytes come in; ``write`` may be called any number of times, then ``complete``."""

    def __init__(self, store: MediaStore, media: Media, writer: BlobWriter) -> None:
        self._store = store
        self._media = media
        self._writer = writer
        self._head = b""
        self._size = 0
        self._sha256 = hashlib.sha256()

    def write(self, data: bytes) -> None:
        """Take the next bytes. Raises LedgerUnavailable."""
        if len(self._head) < HEAD_BYTES:
            self._head += data[: HEAD_BYTES - len(self._head)]
        self._size += len(data)
        self._sha256.update(data)
        self._writer.write(data)

    def complete(self) -> Media:
        """Say that this was all; return what is stored now. Raises LedgerUnavailable."""
        self._writer.finish()
        facts = {
            "size": self._size,
            "sha256": self._sha256.hexdigest(),
            "mime": _known(mime_of(self._head, self._media.label), self._media.mime),
            "state": MediaState.STORED,
        }
        return self._store.settle(self._media.model_copy(update=facts))

    def discard(self) -> None:
        """Remove what came in. Raises LedgerUnavailable."""
        self._writer.discard()


def _known(seen: str, said: str) -> str:
    """What the bytes show is believed before what somebody said about them."""
    return said if seen == UNKNOWN_MIME else seen


class MediaStore:
    """One document per piece of media. Every method raises LedgerUnavailable when the stores cannot be used."""

    def __init__(self, database: Database[Document], blobs: Blobs) -> None:
        self.collection = database["media"]
        self._blobs = blobs

    @ledger_call
    def get(self, media_id: str) -> Media | None:
        """Return what is known of one piece, or None."""
        found = self.collection.find_one({"_id": media_id})
        return from_document(Media, self.collection, found) if found else None

    def receive(self, media: Media) -> Receiving:
        """Begin to store the bytes of ``media``, whose ``file_id`` is new; those of an earlier attempt are removed."""
        self._announce(media)
        return Receiving(self, media, self._blobs.writer(media.file_id))

    def put(self, media: Media, data: bytes) -> Media:
        """Store all bytes of ``media`` at once; what is stored under its id already stays."""
        known = self.get(media.id)
        if known is not None and known.state is MediaState.STORED:
            return known
        receiving = self.receive(media)
        receiving.write(data)
        return receiving.complete()

    @ledger_call
    def settle(self, media: Media) -> Media:
        """Write what became of a piece whose bytes came in; if another worker began anew meanwhile, its own counts."""
        mine = {"_id": media.id, "file_id": media.file_id}
        changes = to_document(media)
        del changes["_id"]
        if self.collection.update_one(mine, {"$set": changes}).matched_count == 1:
            return media
        self._blobs.remove(media.file_id)
        raise LedgerUnavailable(f"{media.id} is being fetched by somebody else; it is looked at again")

    @ledger_call
    def note(self, media: Media) -> None:
        """Write something about a piece without bytes, or more about one with."""
        self.collection.replace_one({"_id": media.id}, to_document(media), upsert=True)

    def read(self, media: Media) -> bytes:
        """Return the bytes. Raises MediaUnreadable when they are not there, or not those that were stored."""
        data = self._blobs.read(media.file_id) if media.state is MediaState.STORED else b""
        if media.state is not MediaState.STORED or len(data) != media.size:
            raise MediaUnreadable(Problem.EXPIRED, f"{media.id}: {len(data)} bytes of {media.size} are left")
        return data

    def pieces(self, media: Media) -> Iterator[bytes]:
        """Yield the bytes piece by piece, each read when it is asked for; all of them are never in memory.

        Raises MediaUnreadable when they are not there, or not as many as were stored.
        """
        left, numbers = media.size, count()
        while left > 0:
            piece = self._blobs.piece(media.file_id, next(numbers)) if media.state is MediaState.STORED else b""
            if not piece:
                raise MediaUnreadable(Problem.EXPIRED, f"{media.id}: {left} bytes of {media.size} are missing")
            left -= len(piece)
            yield piece

    @ledger_call
    def old(self, since: datetime, until: datetime) -> list[Document]:
        """Return id and turn_id of pieces that came after ``since``, up to and with ``until``."""
        query = {"at": {"$gt": since, "$lte": until}}
        return list(self.collection.find(query, {"turn_id": 1}).limit(MOST))

    @ledger_call
    def remove(self, media_ids: Sequence[str]) -> None:
        """Remove pieces, bytes first: what remains of a removal that breaks off can still be found."""
        for row in self.collection.find({"_id": {"$in": list(media_ids)}}, {"file_id": 1}):
            self._blobs.remove(row["file_id"])
        self.collection.delete_many({"_id": {"$in": list(media_ids)}})

    @ledger_call
    def _announce(self, media: Media) -> None:
        try:
            before = self._replace(media)
        except DuplicateKeyError:
            before = self._replace(media)
        if before is not None:
            self._blobs.remove(before["file_id"])

    def _replace(self, media: Media) -> Document | None:
        before = self.collection.find_one({"_id": media.id}, {"file_id": 1})
        self.collection.replace_one({"_id": media.id}, to_document(media), upsert=True)
        return before
