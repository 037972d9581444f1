"""Chooses the adapter for a content type: our four, and those of installed packages."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from importlib.metadata import entry_points

from google.protobuf.message import DecodeError

from wechat_bridge.errors import MessageParseError, PayloadTooLarge, UnsupportedMediaType
from wechat_bridge.gateway.adapters.base import Adapter, ContentType
from wechat_bridge.gateway.adapters.binary import BinaryAdapter
from wechat_bridge.gateway.adapters.json import JsonAdapter
from wechat_bridge.gateway.adapters.limits import measured, too_deep
from wechat_bridge.gateway.adapters.protobuf import ProtobufAdapter
from wechat_bridge.gateway.adapters.xml import XmlAdapter
from wechat_bridge.model.event import JsonObject
from wechat_bridge.model.event_rules import EventRules, Limits
from wechat_bridge.observe.logging import logger

GROUP = "wechat_bridge.adapters"
READ = "application/json, application/xml, application/x-protobuf and the types of binary that are configured"
FAILURES = (
    ValueError, TypeError, LookupError, ArithmeticError, AttributeError, AssertionError, EOFError, BufferError,
    RuntimeError, SyntaxError, OSError, struct.error, zlib.error, DecodeError,
)  # fmt: skip
"""What an adapter of a package may raise on hostile input without anybody having thought of it."""

log = logger(__name__)


class Adapters:
    """Adapters in their order. The first that reads a content type does; that there is a second is logged once."""

    def __init__(self, adapters: Iterable[Adapter], limits: Limits) -> None:
        self._adapters = tuple(adapters)
        self._limits = limits
        self._told: set[tuple[int, ...]] = set()

    @classmethod
    def from_rules(cls, rules: EventRules) -> Adapters:
        """Return those that the rules describe. Raises SettingsError for descriptors that cannot be used.

        Those of packages (entry points of group ``wechat_bridge.adapters``: classes, made without arguments)
        come first, by name, so that one can read ``application/vnd.acme+json`` its own way; then ours.
        """
        points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
        own: list[Adapter] = [
            BinaryAdapter(rules.binary, rules.type_field, rules.limits),
            ProtobufAdapter(rules.protobuf, rules.type_field, rules.limits),
            JsonAdapter(rules.limits),
            XmlAdapter(rules.limits),
        ]
        return cls([*(point.load()() for point in points), *own], rules.limits)

    def parse(self, raw: bytes, content_type: str, event_type: str = "") -> JsonObject:
        """Return the payload. ``event_type`` is that which a header or the address says, if any does.

        Raises UnsupportedMediaType, MessageParseError (its cause chained), PayloadTooLarge.
        """
        if len(raw) > self._limits.most_bytes:
            raise PayloadTooLarge(f"the event has more than {self._limits.most_bytes} bytes, limits.most_bytes")
        stated = ContentType.parse(content_type).with_event_type(event_type)
        adapter = self._chosen(stated)
        try:
            return measured(adapter.parse(raw, stated), self._limits)
        except RecursionError as error:
            raise too_deep(self._limits) from error
        except FAILURES as error:
            raise MessageParseError(f"{_name(adapter)} cannot read the event ({type(error).__name__})") from error

    def _chosen(self, content_type: ContentType) -> Adapter:
        claiming = [index for index in range(len(self._adapters)) if self._claims(index, content_type)]
        if not claiming:
            raise UnsupportedMediaType(
                f"no adapter reads {content_type.type[:100] or 'an event without a content type'}; {READ} are read"
            )
        if len(claiming) > 1:
            names = [_name(self._adapters[index]) for index in claiming]
            self._tell_once(claiming, "adapters_overlap", content_type, used=names[0], not_used=names[1:])
        return self._adapters[claiming[0]]

    def _claims(self, index: int, content_type: ContentType) -> bool:
        """Tell whether an adapter reads it; one of a package that cannot even say so does not."""
        try:
            return self._adapters[index].can_parse(content_type)
        except FAILURES as error:
            named = {"adapter": _name(self._adapters[index]), "error_class": type(error).__name__}
            self._tell_once([index], "adapter_cannot_say_what_it_reads", content_type, **named)
            return False

    def _tell_once(self, adapters: list[int], event: str, content_type: ContentType, **fields: object) -> None:
        if tuple(adapters) not in self._told:
            self._told.add(tuple(adapters))
            log.warning(event, content_type=content_type.type[:100], **fields)


def _name(adapter: Adapter) -> str:
    return f"{type(adapter).__module__}.{type(adapter).__qualname__}"
