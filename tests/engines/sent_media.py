"""What people send, as an engine is told of it."""

from __future__ import annotations

from wechat_bridge.engines.base import Attachment, Engine, ReadsLinks
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.model.message import ItemKind


def medium(kind: str, mime: str, *, size: int = 3, label: str = "", link: str = "") -> Attachment:
    """Something that a person sent, whose bytes nobody should need: they cannot be read."""

    def read() -> bytes:
        raise LedgerUnavailable

    return Attachment(ItemKind(kind), mime, size, label, read, link)


def needs_link(engine: Engine, media: Attachment) -> bool:
    """Whether an engine says that it takes this by a link only."""
    return isinstance(engine, ReadsLinks) and engine.needs_link(media)
