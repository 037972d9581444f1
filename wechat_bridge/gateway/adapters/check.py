"""What is wrong with rules for formats, found before they are in force."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wechat_bridge.errors import SettingsError
from wechat_bridge.gateway.adapters.binary_fields import TEXTS, decimal_digits
from wechat_bridge.gateway.adapters.descriptors import message_class
from wechat_bridge.model.event_rules import BinaryField, BinaryLayout, EventRules

_CONTENT_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*", re.IGNORECASE)


def faults(rules: EventRules) -> Iterator[str]:
    """Yield one line for each fault: its path, what is wrong, what it should be."""
    for event_type, message in rules.protobuf.items():
        try:
            message_class(event_type, message)
        except SettingsError as error:
            yield str(error)
    for content_type, layout in rules.binary.items():
        if not _CONTENT_TYPE.fullmatch(content_type):
            yield f"binary.{content_type}: should be a content type without parameters, as in application/vnd.acme"
        yield from (f"binary.{content_type}.{fault}" for fault in _layout(layout))


def _layout(layout: BinaryLayout) -> Iterator[str]:
    last = len(layout.fields) - 1
    names: list[str] = []
    for index, field in enumerate(layout.fields):
        yield from (f"fields[{index}].{fault}" for fault in _field(field, is_last=index == last))
        if any(f"{field.name}.".startswith(f"{other}.") or f"{other}.".startswith(f"{field.name}.") for other in names):
            yield f"fields[{index}].name: {field.name!r} is, is in or has in it another field of the layout"
        names.append(field.name)


def _field(field: BinaryField, is_last: bool) -> Iterator[str]:
    if field.type in TEXTS:
        if field.prefixed and field.length not in {None, 1, 2, 4}:
            yield "length: should be 1, 2 or 4 bytes where prefixed"
        if field.length is None and not field.prefixed and not is_last:
            yield "length: only the last field may take all the rest; give length or prefixed"
        if field.as_text or field.divide_by != 1:
            yield f"type: {field.type} takes neither as_text nor divide_by, which are for numbers"
    else:
        if field.length is not None or field.prefixed:
            yield f"type: {field.type} takes neither length nor prefixed, which are for text and bytes"
        if field.as_text and decimal_digits(field.divide_by) is None:
            yield "divide_by: should be 1, 10, 100 and so on where as_text"
    if field.type == "bool" and (field.as_text or field.divide_by != 1):
        yield "type: bool takes neither as_text nor divide_by, which are for numbers"
