"""XML becomes the payload that JSON would give; whoever wrote it declares nothing."""

from __future__ import annotations

from typing import Any

import pytest

from wechat_bridge.errors import MessageParseError, PayloadTooLarge
from wechat_bridge.gateway.adapters.base import ContentType
from wechat_bridge.gateway.adapters.xml import XmlAdapter
from wechat_bridge.model.event_rules import Limits


def parse(text: str | bytes, charset: str = "", **limits: Any) -> dict[str, Any]:
    raw = text if isinstance(text, bytes) else text.encode()
    parameters = {"charset": charset} if charset else {}
    return XmlAdapter(Limits(**limits)).parse(raw, ContentType("application/xml", parameters))


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("", {}),
        ("<a>1</a>", {"a": "1"}),
        ("<id>007</id><b> x </b><c/>", {"id": "007", "b": " x ", "c": ""}),
        ("<a>1</a><b/><a>2</a>", {"a": ["1", "2"], "b": ""}),
        ("<a><b>1</b><b>2</b></a>", {"a": {"b": ["1", "2"]}}),
        ('<a type="integer">-12</a>', {"a": -12}),
        ('<a type="integer">123456789012345678901234567890</a>', {"a": 123456789012345678901234567890}),
        ('<a type="number">12.50</a><b type="number"> 3 </b>', {"a": 12.5, "b": 3}),
        ('<a type="boolean">true</a><b type="boolean"> false\n</b>', {"a": True, "b": False}),
        ('<a type="null"/><b type="string"/><c type="string"> 1</c>', {"a": None, "b": "", "c": " 1"}),
        ('<a type="object"/><b type="array"/>', {"a": {}, "b": []}),
        ('<a type="array"><i>1</i></a>', {"a": ["1"]}),
        ('<a type="array"><i type="array"><j>1</j></i><k type="integer">2</k></a>', {"a": [["1"], 2]}),
        ('<a type="array"><i/></a><a type="array"/>', {"a": [[""], []]}),
        ('<a id="7" type="vip">x</a>', {"a": {"@id": "7", "@type": "vip", "#text": "x"}}),
        ('<a id="7"><b/></a>', {"a": {"@id": "7", "b": ""}}),
        ('<a unit="CNY" type="integer">5</a>', {"a": {"@unit": "CNY", "#text": 5}}),
        ("<a><![CDATA[<b>&]]>&amp;&#x738b;</a>", {"a": "<b>&&王"}),
        ("<!-- c --><a>1<!-- c -->2</a><?p i?>", {"a": "12"}),
        ('<x:a xmlns:x="urn:x" x:id="1">1</x:a>', {"a": {"@id": "1", "#text": "1"}}),
    ],
)
def test_a3_elements_become_what_json_would_say(inside: str, expected: dict[str, Any]) -> None:
    assert parse(f"<event>\n {inside} \n</event>") == expected


MALFORMED = [
    "", "x", "<a>", "<a></b>", "<a/><b/>", "<a b=1/>", "<a>&x;</a>", "<a>\0</a>", "<a>\x01</a>", "<r>text</r>",
    '<r type="array"><i/></r>', '<r type="integer">1</r>', "<r>text<a/></r>", "<r><a/>text</r>",
    '<r><a type="integer">1.0</a></r>', '<r><a type="integer">１</a></r>', '<r><a type="integer">1_0</a></r>',
    '<r><a type="number">NaN</a></r>', '<r><a type="number">inf</a></r>', '<r><a type="number">1e999</a></r>',
    '<r><a type="number">0.12345678901234567890</a></r>', '<r><a type="number">0x1</a></r>',
    '<r><a type="number"/></r>',
    '<r><a type="boolean">yes</a></r>', '<r><a type="null">x</a></r>', '<r><a type="array">x</a></r>',
    '<r><a type="array" id="1"/></r>', '<r><a type="integer"><b/></a></r>', '{"a": 1}', "<a x:b='1'/>",
    '<r xmlns:a="u:a" xmlns:b="u:b"><c a:i="1" b:i="2"/></r>',
]  # fmt: skip


@pytest.mark.parametrize("text", MALFORMED)
def test_a5_malformed_xml_is_a_parse_error(text: str) -> None:
    with pytest.raises(MessageParseError) as refused:
        parse(text)
    assert refused.value.__cause__ is not None or "should be an object" in str(refused.value)


HOSTILE = [
    "<!DOCTYPE r><r/>",
    '<!DOCTYPE r SYSTEM "http://127.0.0.1:1/x.dtd"><r/>',
    '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r><a>&x;</a></r>',
    '<!DOCTYPE r [<!ENTITY % x SYSTEM "http://127.0.0.1:1/">%x;]><r/>',
    '<!DOCTYPE r [<!ENTITY a "aaaa">' + "".join(
        f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)) + "]><r><a>&j;</a></r>",
    '<!DOCTYPE r [<!ENTITY x "' + "x" * 50_000 + '">]><r><a>' + "&x;" * 50_000 + "</a></r>",
    '<!DOCTYPE r [<!ATTLIST r a CDATA "b">]><r/>',
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a6_a_doctype_is_refused_and_nothing_is_expanded_or_fetched(text: str, encoding: str) -> None:
    with pytest.raises(MessageParseError, match="declares what it may not") as refused:
        parse(text.encode(encoding))
    assert "passwd" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("<r><a><b>1</b></a></r>", {"most_depth": 1}),
        ("<r>" + "<a>" * 9 + "</a>" * 9 + "</r>", {"most_depth": 8}),
        ("<r><a>1</a><a>2</a></r>", {"most_nodes": 2}),
        ('<r a="1" b="2"/>', {"most_nodes": 2}),
    ],
)
def test_a6_more_values_or_levels_than_allowed_are_refused(text: str, limits: dict[str, Any]) -> None:
    with pytest.raises(PayloadTooLarge):
        parse(text, **limits)
    assert parse(text, **{name: limit + 2 for name, limit in limits.items()})


def test_a6_a_long_namespace_is_not_copied_into_a_hundred_thousand_names() -> None:
    with pytest.raises(MessageParseError, match="namespace is too long"):
        parse(f'<r xmlns="urn:{"x" * 300_000}">{"<a/>" * 90_000}</r>')


@pytest.mark.parametrize(
    ("raw", "charset"),
    [
        ('<?xml version="1.0" encoding="GBK"?><r><a>王</a></r>'.encode("gbk"), ""),
        ("<?xml version='1.0' encoding='gb2312' standalone='yes'?><r><a>王</a></r>".encode("gbk"), ""),
        ('<?xml version="1.0" encoding="UTF-8"?><r><a>王</a></r>'.encode("gbk"), "GB18030"),
        ('<?xml version="1.0" encoding="UTF-16"?><r><a>王</a></r>'.encode("utf-16"), ""),
        ('<?xml version="1.0" encoding="GBK"?><r><a>王</a></r>'.encode("utf-8-sig"), "GBK"),
        ("<r><a>王</a></r>".encode(), ""),
    ],
)
def test_a8_the_charset_is_that_of_the_mark_the_header_or_the_declaration_in_this_order(
    raw: bytes, charset: str
) -> None:
    assert parse(raw, charset) == {"a": "王"}


@pytest.mark.parametrize(
    ("raw", "charset"),
    [
        ("<r><a>王</a></r>".encode("gbk"), ""),
        (b'<?xml version="1.0" encoding="x-unknown"?><r/>', ""),
        (b"<r/>", "utf-7"),
        ('<?xml version="1.0" encoding="GBK"?><r><a>\xff</a></r>'.encode("latin1"), ""),
    ],
)
def test_a8_what_cannot_be_decoded_is_a_parse_error(raw: bytes, charset: str) -> None:
    with pytest.raises(MessageParseError, match="charset"):
        parse(raw, charset)


def test_errors_quote_nothing_of_the_payload() -> None:
    for text in ("<r><hunter2></r>", '<r><a type="integer">hunter2</a></r>', "<r>hunter2<a/></r>"):
        with pytest.raises(MessageParseError) as refused:
            parse(text)
        assert "hunter2" not in str(refused.value) + str(refused.value.__cause__)
