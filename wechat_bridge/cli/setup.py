"""`wechat-bridge setup` and `wechat-bridge new-key`."""

from __future__ import annotations

from urllib.parse import urlsplit

from wechat_bridge.cli.console import tell
from wechat_bridge.cli.session import connected
from wechat_bridge.store import schema
from wechat_bridge.store.vault import KEYS_NAME, new_key


def setup() -> None:
    """Prepare Redis and MongoDB: check them, build the indexes, note the schema version.

    Reads REDIS_URL and MONGODB_URL. It is safe to run again, and after every upgrade; the processes do the same when
    they start, so this is for finding out beforehand.
    """
    with connected() as wired:
        given = wired.bridge.settings
        tell(f"Redis at {_hosts(given.redis_url)}: answers, keeps what it is given (noeviction)")
        tell(f"MongoDB at {_hosts(given.mongodb_url)}: answers, schema version {schema.VERSION}")
        for collection, indexes in schema.INDEXES.items():
            tell(f"  {collection}: {len(indexes)} indexes")
        if not given.secret_keys:
            tell(f"{KEYS_NAME} is not set: no account can be logged in until it is (make one: wechat-bridge new-key)")


def make_key() -> None:
    """Print a new key for WECHAT_BRIDGE_SECRET_KEYS, which encrypts the stored WeChat credentials.

    Keep it: without it the credentials cannot be read. To change it, put the new one before the old one, separated by
    a comma.
    """
    print(new_key())


def _hosts(url: str) -> str:
    """Return host and port, or several, without user and password."""
    return urlsplit(url).netloc.rpartition("@")[2] or urlsplit(url).path
