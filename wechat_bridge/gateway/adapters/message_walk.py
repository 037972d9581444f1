"""A walk through a Protobuf message before it becomes a payload."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from wechat_bridge.errors import MessageParseError
from wechat_bridge.gateway.adapters.limits import too_many
from wechat_bridge.model.event_rules import Limits

FLOATS = (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT)
ANY = "google.protobuf.Any"


def check_values(message: Message, limits: Limits) -> None:
    """Raises PayloadTooLarge for too many values, MessageParseError for what has no place in a payload.

    That is NaN and Infinity, which its JSON mapping would make texts, texts that are none, and ``Any``, which may be
    anything.
    """
    nodes = 0
    waiting = [message]
    while waiting:
        current = waiting.pop()
        if current.DESCRIPTOR.full_name == ANY:
            raise MessageParseError("a Protobuf message holds an Any, which is not read here")
        for field, value in current.ListFields():
            nodes += len(value) if _is_many(field) else 1
            if nodes > limits.most_nodes:
                raise too_many(limits)
            waiting += _inside(field, value)


def _is_many(field: FieldDescriptor) -> bool:
    return bool(field.is_repeated)


def _inside(field: FieldDescriptor, value: Any) -> Iterator[Message]:
    """Yield the messages in a field. Raises MessageParseError for a value that has no place in a payload."""
    entry = field.message_type
    if entry is not None and entry.GetOptions().map_entry:
        yield from _checked(entry.fields_by_name["key"], value.keys())
        yield from _checked(entry.fields_by_name["value"], value.values())
    else:
        yield from _checked(field, value if _is_many(field) else (value,))


def _checked(field: FieldDescriptor, values: Iterable[Any]) -> Iterable[Message]:
    if field.cpp_type in FLOATS and not all(map(isfinite, values)):
        raise MessageParseError("a number of a Protobuf message is not finite")
    if field.type == FieldDescriptor.TYPE_STRING and not all(isinstance(each, str) for each in values):
        raise MessageParseError("a text of a Protobuf message is not UTF-8")  # proto2: it is given as bytes
    return values if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE else ()
