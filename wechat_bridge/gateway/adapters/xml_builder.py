"""Builds the payload while a document is read, so that a hostile one is left where it becomes hostile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from wechat_bridge.gateway.adapters.limits import too_deep, too_many
from wechat_bridge.gateway.adapters.numbers import integer_of, number_of
from wechat_bridge.model.event_rules import Limits

KINDS = frozenset({"integer", "number", "boolean", "null", "string", "object", "array"})
MOST_NAMESPACE_CHARACTERS = 1_000
"""A parser copies the address of a namespace into every name: a long one would cost its length for each element."""


@dataclass
class _Element:
    name: str
    kind: str
    attributes: dict[str, str]
    children: list[tuple[str, Any]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


class XmlBuilder:
    """The target of an XML parser; ``close`` returns the value of the outermost element.

    Raises PayloadTooLarge, and ValueError for what has no meaning here.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._open: list[_Element] = []
        self._nodes = 0
        self._root: Any = ""

    def start_ns(self, _: str, address: str) -> None:
        """Begin the part in which a namespace is known."""
        if len(address) > MOST_NAMESPACE_CHARACTERS:
            raise ValueError("the address of a namespace is too long")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        self._nodes += 1 + len(attributes)
        if self._nodes > self._limits.most_nodes:
            raise too_many(self._limits)
        if len(self._open) > self._limits.most_depth:
            raise too_deep(self._limits)
        kind = attributes["type"] if attributes.get("type") in KINDS else ""
        others = {f"@{_local(name)}": text for name, text in attributes.items() if not kind or name != "type"}
        if len(others) + bool(kind) != len(attributes):
            raise ValueError("an element has the same attribute in two namespaces")
        self._open.append(_Element(_local(tag), kind, others))

    def data(self, text: str) -> None:
        """Take text, CDATA or not."""
        self._open[-1].texts.append(text)

    def end(self, _: str) -> None:
        """End an element, which then has its value."""
        element = self._open.pop()
        value = _value(element)
        if self._open:
            self._open[-1].children.append((element.name, value))
        else:
            self._root = value

    def close(self) -> Any:
        """Return the value of the outermost element; one that is empty and says nothing else is an empty object."""
        is_blank = isinstance(self._root, str) and not self._root.strip()
        return {} if is_blank else self._root


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _value(element: _Element) -> Any:
    text = "".join(element.texts)
    if element.children and text.strip():
        raise ValueError("there is text between elements")
    if element.kind == "array":
        return _array(element, text)
    if element.children or element.attributes or element.kind == "object":
        return _object(element, text)
    return _scalar(element.kind, text)


def _array(element: _Element, text: str) -> list[Any]:
    if element.attributes or text.strip():
        raise ValueError("an array has attributes or text")
    return [value for _, value in element.children]


def _object(element: _Element, text: str) -> dict[str, Any]:
    scalar = element.kind not in {"", "object"}
    if scalar and element.children:
        raise ValueError("a value has elements inside, but its type says that it has none")
    found: dict[str, list[Any]] = {name: [value] for name, value in element.attributes.items()}
    for name, value in element.children:
        found.setdefault(name, []).append(value)
    if text.strip() or scalar:
        found["#text"] = [_scalar(element.kind, text)]
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _scalar(kind: str, text: str) -> Any:
    stated = text.strip()
    if kind == "integer":
        return integer_of(stated)
    if kind == "number":
        return number_of(stated)
    if kind == "boolean":
        if stated not in {"true", "false"}:
            raise ValueError("what should be true or false is neither")
        return stated == "true"
    if kind == "null":
        if stated:
            raise ValueError("what should be null has text")
        return None
    return text
