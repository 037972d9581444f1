"""Binary frames that a layout of the configuration describes.

A frame is, all numbers big-endian: the ``magic`` bytes; the version, 1 byte; the length of the body, 4 bytes; the body;
the CRC-32 of the body (as in zlib), 4 bytes. Nothing follows. The body is the fields of the layout one after another,
see ``binary_fields``. The layout's ``event_type`` becomes the payload's, unless one of its fields says it.
"""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

from wechat_bridge.errors import MessageParseError
from wechat_bridge.gateway.adapters.base import ContentType
from wechat_bridge.gateway.adapters.binary_fields import Body, read_field
from wechat_bridge.gateway.adapters.fields import put, put_missing
from wechat_bridge.gateway.adapters.limits import measured
from wechat_bridge.model.event import JsonObject
from wechat_bridge.model.event_rules import BinaryLayout, Limits

LENGTH_BYTES = CHECKSUM_BYTES = 4


class BinaryAdapter:
    """Reads the content types that have a layout, ``application/octet-stream`` or a vendor's own."""

    name = "binary"

    def __init__(self, layouts: Mapping[str, BinaryLayout], type_field: str, limits: Limits) -> None:
        self._layouts = {content_type.lower(): layout for content_type, layout in layouts.items()}
        self._type_field = type_field
        self._limits = limits

    def can_parse(self, content_type: ContentType) -> bool:
        """Tell whether there is a layout."""
        return content_type.type in self._layouts

    def parse(self, raw: bytes, content_type: ContentType) -> JsonObject:
        """Return the fields. Raises MessageParseError, PayloadTooLarge."""
        layout = self._layouts[content_type.type]
        body = Body(_body(raw, layout))
        payload: JsonObject = {}
        try:
            for field in layout.fields:
                put(payload, field.name, read_field(field, body))
        except ValueError as error:
            raise MessageParseError(f"a binary event is not as its layout says: {error}") from error
        if body.rest():
            raise MessageParseError("a binary event has bytes behind its last field")
        put_missing(payload, self._type_field, layout.event_type)
        return measured(payload, self._limits)


def _body(raw: bytes, layout: BinaryLayout) -> bytes:
    magic = bytes.fromhex(layout.magic)
    start = len(magic) + 1 + LENGTH_BYTES
    if not raw.startswith(magic):
        raise MessageParseError("a binary event does not begin with the magic bytes of its layout")
    if len(raw) < start + CHECKSUM_BYTES:
        raise MessageParseError("a binary event ends too early")
    if raw[len(magic)] != layout.version:
        raise MessageParseError("a binary event has a version that its layout does not have")
    body, checksum = raw[start:-CHECKSUM_BYTES], raw[-CHECKSUM_BYTES:]
    if int.from_bytes(raw[start - LENGTH_BYTES : start]) != len(body):
        raise MessageParseError("a binary event is not as long as it says")
    if int.from_bytes(checksum) != crc32(body):
        raise MessageParseError("the checksum of a binary event is wrong")
    return body
