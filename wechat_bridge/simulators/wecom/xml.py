"""Writing the XML of callbacks, and reading that of passive replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree


def to_xml(fields: Mapping[str, Any]) -> str:
    """An ``<xml>`` document: texts as CDATA, numbers bare, objects nested, lists as repeated elements."""
    return f"<xml>{elements(fields)}</xml>"


def elements(fields: Mapping[str, Any]) -> str:
    """The elements of some fields, in their order."""
    return "".join(element(name, value) for name, value in fields.items())


def element(name: str, value: Any) -> str:
    """One field; None leaves it out."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "".join(element(name, item) for item in value)
    content = elements(value) if isinstance(value, Mapping) else leaf(value)
    return f"<{name}>{content}</{name}>"


def leaf(value: Any) -> str:
    """A text or number; ``]]>`` cannot stand inside CDATA and is split over two sections."""
    return f"<![CDATA[{value.replace(']]>', ']]]]><![CDATA[>')}]]>" if isinstance(value, str) else str(value)


def from_xml(document: str) -> dict[str, Any]:
    """The fields of an ``<xml>`` document, nested ones as objects, repeated ones as lists.

    Raises:
        ElementTree.ParseError: it is not XML.
    """
    return _children(ElementTree.fromstring(document))


def _children(parent: ElementTree.Element) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for child in parent:
        value: Any = _children(child) if len(child) else child.text or ""
        if child.tag in fields:
            earlier = fields[child.tag]
            value = [*earlier, value] if isinstance(earlier, list) else [earlier, value]
        fields[child.tag] = value
    return fields
