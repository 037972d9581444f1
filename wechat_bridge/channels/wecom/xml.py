"""XML as WeCom writes it, to plain values. Whoever wrote it: no DTD, no endless depth, no silent repeat."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from wechat_bridge.errors import CallbackMalformed

Value = str | dict[str, Any] | list[Any]
Fields = dict[str, Any]
"""Names to texts, or to further fields; where a name is repeated, to the list of both."""

MOST_DEPTH = 16
MOST_ELEMENTS = 2_000
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _TooMuch(ValueError):
    """A document is nested deeper, or has more elements, than any of WeCom's."""


class _Builder:
    """Builds the fields while the document is read, so that a hostile one is left where it becomes hostile."""

    def __init__(self) -> None:
        self.root: Value = ""
        self._open: list[tuple[str, Fields, list[str]]] = []
        self._elements = 0

    def start(self, tag: str, _: dict[str, str]) -> None:
        """Begin an element."""
        self._elements += 1
        if len(self._open) >= MOST_DEPTH or self._elements > MOST_ELEMENTS:
            raise _TooMuch
        self._open.append((tag, {}, []))

    def data(self, text: str) -> None:
        """Take text, CDATA or not: what is inside is text for good, however much it looks like fields."""
        self._open[-1][2].append(text)

    def end(self, _: str) -> None:
        """End an element: with fields inside it is those, else its text."""
        tag, fields, texts = self._open.pop()
        value: Value = fields or "".join(texts)
        if self._open:
            _add(self._open[-1][1], tag, value)
        else:
            self.root = value

    def close(self) -> Value:
        """Return the content of the root."""
        return self.root


def _add(fields: Fields, tag: str, value: Value) -> None:
    if tag not in fields:
        fields[tag] = value
    elif isinstance(fields[tag], list):
        fields[tag].append(value)
    else:
        fields[tag] = [fields[tag], value]


def fields_of(text: str) -> Fields:
    """Return the fields of a document. Raises CallbackMalformed, never with a word of what is in it."""
    parser = DefusedXMLParser(target=_Builder(), forbid_dtd=True)
    try:
        parser.feed(text)
        root = parser.close()
    except DefusedXmlException as error:
        raise CallbackMalformed(f"the XML of a callback declares what it may not ({type(error).__name__})") from None
    except _TooMuch:
        raise CallbackMalformed("the XML of a callback is nested too deeply or has too many elements") from None
    except (ParseError, ValueError):
        raise CallbackMalformed("the body of a callback is no XML") from None
    if not isinstance(root, dict):
        raise CallbackMalformed("the XML of a callback has no fields")
    return root


def without_illegal(text: str) -> str:
    """Return ``text`` without the characters that XML 1.0 cannot carry (field report 38)."""
    return _ILLEGAL.sub("", text)


def text_in(fields: Fields, name: str) -> str:
    """Return a field that is text, without blanks around it; "" for any other, and for none."""
    value = fields.get(name)
    return value.strip() if isinstance(value, str) else ""
