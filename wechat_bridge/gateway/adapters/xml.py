"""XML 1.0 without DTD, to the payload that JSON would give.

- The name of the outermost element says nothing; what is in it are the fields.
- An element with elements inside is an object, one with text only is that text, exactly as it stands (``007`` stays
  ``007``). Elements of one name beside each other are an array in their order.
- XML knows texts only, so an attribute ``type`` says what else a value is: ``integer``, ``number``, ``boolean``
  (``true``, ``false``), ``null``, ``string``, ``object`` (an empty one), ``array``, whose items are the elements inside
  whatever they are called. ``<amount type="number">12.50</amount>`` is JSON's ``"amount": 12.50``.
- Any other attribute is a field ``@name``; the text of an element that has one is its field ``#text``.
- Names are without namespace; comments and processing instructions are left out. Text between elements is an error.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from wechat_bridge.errors import MessageParseError
from wechat_bridge.gateway.adapters.base import ContentType
from wechat_bridge.gateway.adapters.limits import measured
from wechat_bridge.gateway.adapters.text import decoded
from wechat_bridge.gateway.adapters.xml_builder import XmlBuilder
from wechat_bridge.model.event import JsonObject
from wechat_bridge.model.event_rules import Limits

TYPES = frozenset({"application/xml", "text/xml"})
_DECLARATION = re.compile(rb"""<\?xml[^>]{0,80}?\sencoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")


class XmlAdapter:
    """Reads ``application/xml``, ``text/xml`` and all that end with ``+xml``."""

    name = "xml"

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def can_parse(self, content_type: ContentType) -> bool:
        """Tell whether it is XML."""
        return content_type.type in TYPES or content_type.type.endswith("+xml")

    def parse(self, raw: bytes, content_type: ContentType) -> JsonObject:
        """Return the fields of the outermost element. Raises MessageParseError, PayloadTooLarge."""
        declared = _DECLARATION.match(raw)
        text = decoded(raw, content_type, declared[1].decode() if declared else "")
        parser = DefusedXMLParser(target=XmlBuilder(self._limits), forbid_dtd=True)
        try:
            parser.feed(text)
            return measured(parser.close(), self._limits)
        except DefusedXmlException as error:
            raise MessageParseError(f"its XML declares what it may not ({type(error).__name__})") from error
        except ParseError as error:
            raise MessageParseError("it is no well-formed XML") from error
        except ValueError as error:
            raise MessageParseError(f"it is not the XML that it should be: {error}") from error
