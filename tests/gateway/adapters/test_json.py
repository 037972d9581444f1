"""JSON is read strictly, and nothing in it is rounded."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from wechat_bridge.errors import MessageParseError, PayloadTooLarge
from wechat_bridge.gateway.adapters.base import ContentType
from wechat_bridge.gateway.adapters.json import JsonAdapter
from wechat_bridge.model.event_rules import Limits


def parse(text: str | bytes, charset: str = "", **limits: Any) -> dict[str, Any]:
    raw = text if isinstance(text, bytes) else text.encode()
    parameters = {"charset": charset} if charset else {}
    return JsonAdapter(Limits(**limits)).parse(raw, ContentType("application/json", parameters))


MALFORMED = [
    "", " ", "{", '{"a":1', '{"a":1}}', "{'a':1}", '{"a":1,}', '{"a":01}', '{"a":+1}', '{"a":.5}', '{"a":"\n"}', "nul",
    '{"a":"\\x"}', '{"a" 1}', "<a/>", '{"a":1} trailing', '{"a":0x1}',
]  # fmt: skip


@pytest.mark.parametrize("text", MALFORMED)
def test_a5_malformed_json_is_a_parse_error_with_its_cause(text: str) -> None:
    with pytest.raises(MessageParseError) as refused:
        parse(text)
    assert isinstance(refused.value.__cause__, ValueError)
    assert (refused.value.status, refused.value.stage) == (400, "parse")


@pytest.mark.parametrize("text", ["[]", "1", '"text"', "null", "true", '[{"a":1}]'])
def test_a5_what_is_no_object_is_a_parse_error(text: str) -> None:
    with pytest.raises(MessageParseError, match="should be an object"):
        parse(text)


@pytest.mark.parametrize("text", ['{"a":1,"a":1}', '{"x":[{"a":1,"b":2,"\\u0061":3}]}'])
def test_a5_the_same_name_twice_is_a_parse_error(text: str) -> None:
    with pytest.raises(MessageParseError, match="same name twice"):
        parse(text)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e99999999999999999999"])
def test_a5_what_is_no_finite_number_is_a_parse_error(number: str) -> None:
    with pytest.raises(MessageParseError):
        parse(f'{{"a": {number}}}')


@pytest.mark.parametrize("text", ["\\ud800", "\\udfff", "\\ud800x", "\\udc00\\ud800"])
def test_a5_half_a_character_is_a_parse_error_in_texts_and_names(text: str) -> None:
    for whole in (f'{{"a": "{text}"}}', f'{{"{text}": 1}}', f'{{"a": ["{text}"]}}'):
        with pytest.raises(MessageParseError, match="surrogate"):
            parse(whole)
    assert parse('{"a": "\\ud83d\\ude00"}') == {"a": "😀"}


@pytest.mark.parametrize("value", [2**53 + 1, 2**63, 2**64 + 1, -(2**63) - 1, 10**400])
def test_integers_of_any_size_stay_exact(value: int) -> None:
    assert parse(json.dumps({"id": value})) == {"id": value}


def test_a_number_of_absurd_length_is_refused() -> None:
    with pytest.raises(MessageParseError, match="too many digits"):
        parse('{"id": 1' + "0" * 1_000 + "}")


@pytest.mark.parametrize("written", ["12.50", "0.1", "99999999999.99", "1e2", "1E-7", "-0.0", "0.30000000000000004",
                                     "0.10000000000000001", "123456789012.345", "5e-324"])  # fmt: skip
def test_a_decimal_that_a_double_holds_stays_the_number_that_was_written(written: str) -> None:
    value = parse(f'{{"amount": {written}}}')["amount"]
    assert isinstance(value, float)
    assert Decimal(written) in (Decimal(repr(value)), Decimal(f"{value:.17g}"))


@pytest.mark.parametrize("written", ["12345678901234.567", "0.1234567890123456789", "9007199254740993.0", "1e-400",
                                     "0." + "9" * 400, "0e99999999999999999999"])  # fmt: skip
def test_a_decimal_that_would_be_rounded_is_refused(written: str) -> None:
    with pytest.raises(MessageParseError, match="send it as text"):
        parse(f'{{"amount": {written}}}')


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ('{"a":[[1]]}', {"most_depth": 2}),
        ('{"a":{"b":{}}}', {"most_depth": 2}),
        ('{"a":[1,2]}', {"most_nodes": 3}),
        ('{"a":1,"b":2}', {"most_nodes": 2}),
        ('{"a":[[],[]]}', {"most_nodes": 3}),
    ],
)
def test_a6_more_values_or_levels_than_allowed_are_refused_one_less_is_not(text: str, limits: dict[str, Any]) -> None:
    with pytest.raises(PayloadTooLarge) as refused:
        parse(text, **limits)
    assert refused.value.status == 413
    assert parse(text, **{name: limit + 1 for name, limit in limits.items()}) == json.loads(text)


def test_a6_marks_inside_texts_are_neither_values_nor_levels() -> None:
    text = json.dumps({"a": '[{,"\\' * 50, "[": {"}": "]"}, "e": [[], {}, []]})
    assert parse(text, most_depth=3, most_nodes=8) == json.loads(text)
    spaced = text.replace("[]", "[ \n ]")
    assert parse(spaced, most_depth=3, most_nodes=8) == json.loads(text)
    with pytest.raises(PayloadTooLarge):
        parse(spaced, most_depth=3, most_nodes=7)


@pytest.mark.parametrize(
    ("raw", "charset"),
    [
        ('{"名": "王"}'.encode("gbk"), "GBK"),
        ('{"名": "王"}'.encode("gb18030"), "gb2312"),
        ('{"名": "王"}'.encode("big5"), "Big5"),
        ('{"名": "王"}'.encode("utf-16"), ""),
        ('{"名": "王"}'.encode("utf-16-be"), "UTF-16BE"),
        ('{"名": "王"}'.encode("utf-8-sig"), "utf-8"),
        ('{"名": "王"}'.encode("utf-32"), "utf-8"),
    ],
)
def test_a8_a_declared_charset_is_used(raw: bytes, charset: str) -> None:
    assert parse(raw, charset) == {"名": "王"}


@pytest.mark.parametrize(
    ("raw", "charset"),
    [
        (b'{"a": "\xff"}', ""),
        (b'{"a": "\xff"}', "utf-8"),
        (b'{"a": "\xed\xa0\x80"}', ""),
        ('{"a": "王"}'.encode("gbk"), ""),
        (b'{"a": "\x80"}', "us-ascii"),
        (b'{"a": 1}', "punycode"),
        (b'{"a": 1}', "unicode_escape"),
        (b'{"a": 1}', "zip"),
        (b'{"a": 1}', "../../x"),
        (b"\xfe\xff\xd8\x00", ""),
        (b'{"a": 1', "utf-16le"),
    ],
)
def test_a8_what_is_not_in_its_charset_or_in_none_that_is_known_is_a_parse_error(raw: bytes, charset: str) -> None:
    with pytest.raises(MessageParseError):
        parse(raw, charset)


def test_errors_quote_nothing_of_the_payload() -> None:
    for text in ('{"hunter2": hunter2}', '{"hunter2":1,"hunter2":2}', '["hunter2"]', '{"a":"hunter2\\ud800"}'):
        with pytest.raises(MessageParseError) as refused:
            parse(text)
        assert "hunter2" not in str(refused.value) + str(refused.value.__cause__)
