"""The versions of the configuration in the ``settings`` collection, and the newest one again in Redis."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import cast

from pydantic import ValidationError
from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from wechat_bridge.errors import DocumentInvalid, SettingsError
from wechat_bridge.model.configuration import FORMAT, Document, Path, StoredConfiguration, find, with_value
from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient, broker_call
from wechat_bridge.store.ledger import Document as Row
from wechat_bridge.store.ledger import from_document, insert_ours, ledger_call, to_document
from wechat_bridge.store.vault import Vault

INDEXES = [IndexModel([("number", ASCENDING)], name="number")]


class ConfigurationStore:
    """One document per version, which never changes: whoever writes the next number first has published it.

    Every method but ``seal`` and ``open`` raises LedgerUnavailable when MongoDB cannot be used.
    """

    def __init__(self, database: Database[Row], vault: Vault) -> None:
        self.collection = database["settings"]
        self._vault = vault

    @ledger_call
    def newest_number(self) -> int:
        """Return the number of the newest version; 0 when there is none."""
        newest = self.collection.find({"number": {"$gte": 1}}, {"number": 1}).sort("number", DESCENDING).limit(1)
        return max((int(row["number"]) for row in newest), default=0)

    @ledger_call
    def there_are(self, first: int, second: int) -> tuple[bool, bool]:
        """Return whether there are these versions: every process asks every second, so it is two keys of an index."""
        found = {row["_id"] for row in self.collection.find({"_id": {"$in": [_id(first), _id(second)]}}, {"_id": 1})}
        return _id(first) in found, _id(second) in found

    @ledger_call
    def get(self, number: int) -> StoredConfiguration | None:
        """Return a version. Raises DocumentInvalid when it is not what this installation can read."""
        row = self.collection.find_one({"_id": _id(number)})
        if row is not None and row.get("format") != FORMAT:
            raise DocumentInvalid(f"it has format {row.get('format')}, this installation reads {FORMAT}: upgrade it")
        return from_document(StoredConfiguration, self.collection, row) if row else None

    @ledger_call
    def add(self, stored: StoredConfiguration) -> bool:
        """Publish a version; False when somebody else has published this number."""
        try:
            insert_ours(self.collection, to_document(stored), ("text", "by"))
        except DuplicateKeyError:
            return False
        return True

    def seal(self, document: Document, secrets: Iterable[Path]) -> tuple[str, tuple[Path, ...]]:
        """Return a document as text, sealed at the places of its secrets, and these. Raises NotConfigured."""
        places = tuple(secrets)
        for path in places:
            document = with_value(document, path, self._vault.seal_text(find(document, path)))
        return json.dumps(document, ensure_ascii=False), places

    def open(self, stored: StoredConfiguration) -> Document:
        """Return a stored document with its secrets. Raises NotConfigured without the key, and SettingsError."""
        document = closed(stored)
        for path in stored.sealed:
            document = with_value(document, path, self._vault.open_text(find(document, path)))
        return document


class ConfigurationCache:
    """The last version that was good, for a start at which the ledger cannot be read; sealed as it is there.

    Every method raises BrokerUnavailable when Redis cannot be used.
    """

    def __init__(self, client: RedisClient) -> None:
        self._client = client

    @broker_call
    def keep(self, stored: StoredConfiguration) -> None:
        """Keep a version instead of the one before."""
        self._client.set(redis_keys.CONFIGURATION, stored.model_dump_json())

    @broker_call
    def get(self) -> StoredConfiguration | None:
        """Return what is kept. Raises DocumentInvalid."""
        kept = cast("str | None", self._client.get(redis_keys.CONFIGURATION))
        try:
            return StoredConfiguration.model_validate_json(kept) if kept else None
        except ValidationError:
            raise DocumentInvalid(f"the configuration kept in Redis at {redis_keys.CONFIGURATION} is none") from None


def new_version(number: int, text: str, sealed: tuple[Path, ...], **fields: object) -> StoredConfiguration:
    """Return a version to be added."""
    return StoredConfiguration.model_validate(
        {"id": _id(number), "number": number, "text": text, "sealed": sealed, **fields}
    )


def closed(stored: StoredConfiguration) -> Document:
    """Return a stored document, sealed where its secrets are. Raises SettingsError when it cannot be read."""
    try:
        document = json.loads(stored.text)
        if isinstance(document, dict) and all(isinstance(find(document, path), str) for path in stored.sealed):
            return document
    except (ValueError, LookupError, RecursionError):
        pass
    raise SettingsError(f"version {stored.number} of the configuration cannot be read; go back to one that can")


def _id(number: int) -> str:
    return f"configuration:{number}"
