"""What the gateway asks of an adapter, and the content type by which one is chosen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from wechat_bridge.model.event import JsonObject

MOST_HEADER_CHARACTERS = 1_024
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_TYPE = re.compile(rf"\s*({_TOKEN}/{_TOKEN})\s*(;.*)?", re.DOTALL)
_PARAMETER = re.compile(rf';\s*({_TOKEN})\s*=\s*({_TOKEN}|"(?:[^"\\]|\\.)*+")', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True)
class ContentType:
    """A content type (RFC 9110, 8.3.1): ``type`` and the names of ``parameters`` are in lower case, values as given."""

    type: str
    parameters: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> ContentType:
        """Return what a header says; of a parameter given twice the first. What is none has the type ""."""
        found = _TYPE.fullmatch(text) if len(text) <= MOST_HEADER_CHARACTERS else None
        if found is None:
            return cls("")
        parameters: dict[str, str] = {}
        for name, value in _PARAMETER.findall(found[2] or ""):
            parameters.setdefault(name.lower(), _ESCAPED.sub(r"\1", value[1:-1]) if value[0] == '"' else value)
        return cls(found[1].lower(), parameters)

    def with_event_type(self, event_type: str) -> ContentType:
        """Return the same that also says which event this is, for formats that do not say so themselves."""
        if not event_type or "type" in self.parameters or "messagetype" in self.parameters:
            return self
        return ContentType(self.type, {**self.parameters, "type": event_type})

    @property
    def event_type(self) -> str:
        """The type of event, or name of a message, that a parameter ``messageType`` or ``type`` gives; "" for none."""
        return self.parameters.get("messagetype", "") or self.parameters.get("type", "")


class Adapter(Protocol):
    """Reads one format. A package adds one with an entry point of group ``wechat_bridge.adapters``."""

    def can_parse(self, content_type: ContentType) -> bool:
        """Tell whether this adapter reads such a content type."""

    def parse(self, raw: bytes, content_type: ContentType) -> JsonObject:
        """Return the payload. Raises MessageParseError (any ValueError counts as one), PayloadTooLarge."""
