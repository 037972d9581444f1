"""Counters whose labels stay few whatever arrives."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from prometheus_client import REGISTRY

from wechat_bridge.model.message import InboundMessage, InboxRow, Item, ItemKind, inbox_row
from wechat_bridge.observe import metrics


def row(source: str, *kinds: ItemKind) -> InboxRow:
    items = tuple(Item(kind=kind) for kind in kinds)
    return inbox_row(InboundMessage(message_id="1", user_id="u", items=items), "shop", 1, datetime.now(UTC), source)


@pytest.mark.parametrize(
    ("source", "kinds", "labels"),
    [
        ("poll", (ItemKind.TEXT,), ("poll", "text")),
        ("callback", (ItemKind.IMAGE, ItemKind.IMAGE), ("callback", "image")),
        ("history", (ItemKind.TEXT, ItemKind.FILE), ("history", "mixed")),
        ("poll", (), ("poll", "empty")),
        ("a source nobody has heard of", (ItemKind.UNKNOWN,), ("other", "unknown")),
    ],
)
def test_messages_are_counted_by_source_and_type(
    source: str, kinds: tuple[ItemKind, ...], labels: tuple[str, str]
) -> None:
    def total() -> float:
        names = dict(zip(("source", "type"), labels, strict=True))
        return REGISTRY.get_sample_value("messages_received_total", names) or 0

    before = total()
    metrics.message_received(row(source, *kinds))
    assert total() - before == 1
