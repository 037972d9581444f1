"""Several events in one body: a JSON array, or a JSON value on each line. Each keeps its own bytes."""

from __future__ import annotations

import json

from wechat_bridge.errors import MessageParseError, PayloadTooLarge
from wechat_bridge.gateway.adapters.base import ContentType
from wechat_bridge.gateway.adapters.json_size import check_size
from wechat_bridge.gateway.adapters.text import decoded
from wechat_bridge.model.event_rules import Limits

LINES = frozenset({"application/x-ndjson", "application/jsonl", "application/x-jsonlines"})
WHITESPACE = " \t\n\r"
DECODER = json.JSONDecoder()


def split(raw: bytes, content_type: str, limits: Limits) -> list[bytes] | None:
    """Return the bytes of each event; None for what is no batch. Raises PayloadTooLarge and MessageParseError."""
    stated = ContentType.parse(content_type)
    if stated.type in LINES:
        return _counted([line for line in raw.splitlines() if line.strip()], limits)
    if stated.type != "application/json" or not raw.lstrip(b"\xef\xbb\xbf \t\n\r").startswith(b"["):
        return None
    text = decoded(raw, stated)
    check_size(text, limits.model_copy(update={"most_depth": limits.most_depth + 1}))
    try:
        return _counted(_elements(text, limits), limits)
    except RecursionError:
        raise PayloadTooLarge(f"a batch is deeper than {limits.most_depth} levels, limits.most_depth") from None
    except ValueError as error:
        raise MessageParseError("the batch is not the JSON array that it should be") from error


def _elements(text: str, limits: Limits) -> list[bytes]:
    """Cut an array into the texts of its elements. Raises ValueError."""
    at = _skip(text, text.index("[") + 1)
    found: list[bytes] = []
    if text[at : at + 1] == "]":
        return _ended(text, at, found)
    while len(found) <= limits.most_batch:
        _, end = DECODER.raw_decode(text, at)
        found.append(text[at:end].encode())
        at = _skip(text, end)
        if text[at : at + 1] == "]":
            return _ended(text, at, found)
        if text[at : at + 1] != ",":
            raise ValueError("a comma is missing")
        at = _skip(text, at + 1)
    return found


def _ended(text: str, at: int, found: list[bytes]) -> list[bytes]:
    if _skip(text, at + 1) != len(text):
        raise ValueError("something follows the array")
    return found


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in WHITESPACE:
        at += 1
    return at


def _counted(events: list[bytes], limits: Limits) -> list[bytes]:
    if len(events) > limits.most_batch:
        raise PayloadTooLarge(f"a batch has more than {limits.most_batch} events, limits.most_batch")
    return events
