"""Binary frames are read as their layout says, to the last byte."""

from __future__ import annotations

import struct
from typing import Any
from zlib import crc32

import pytest

from tests.gateway.adapters.formats import BINARY, MAGIC, PAYMENT, adapters, frame, laid_out, prefixed
from wechat_bridge.errors import MessageParseError

OCTETS = "application/octet-stream"


def read(body: bytes, *fields: dict[str, Any], **layout: Any) -> dict[str, Any]:
    return laid_out(list(fields), **layout).parse(frame(body), OCTETS)


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("u8", b"\xff", 255), ("i8", b"\xff", -1), ("u16", b"\1\0", 256), ("i16", b"\xff\xfe", -2),
        ("u32", b"\xff" * 4, 2**32 - 1), ("i32", b"\x80\0\0\0", -(2**31)),
        ("u64", b"\xff" * 8, 2**64 - 1), ("i64", b"\x80" + b"\0" * 7, -(2**63)),
        ("f32", struct.pack(">f", 0.1), 0.1), ("f64", struct.pack(">d", 0.1), 0.1),
        ("f32", b"\x7f\x7f\xff\xff", 3.4028235e38), ("f32", b"\0\0\0\1", 1e-45),
        ("bool", b"\1", True), ("bool", b"\0", False), ("text", "王".encode(), "王"), ("bytes", b"\xff\0", "/wA="),
        ("text", b"", ""), ("text", b"a\0", "a\0"),
    ],
)  # fmt: skip
def test_each_kind_of_field_has_its_exact_value(kind: str, body: bytes, expected: Any) -> None:
    value = read(body, {"name": "a", "type": kind})["a"]
    assert (value, type(value)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("field", "body", "expected"),
    [
        ({"type": "u64", "as_text": True}, b"\xff" * 8, "18446744073709551615"),
        ({"type": "u32", "divide_by": 100}, struct.pack(">I", 1250), 12.5),
        ({"type": "u32", "divide_by": 100, "as_text": True}, struct.pack(">I", 1250), "12.50"),
        ({"type": "i64", "divide_by": 100, "as_text": True}, struct.pack(">q", -(2**63)), "-92233720368547758.08"),
        ({"type": "i16", "divide_by": 1000, "as_text": True}, struct.pack(">h", 5), "0.005"),
        ({"type": "u16", "divide_by": 256}, struct.pack(">H", 384), 1.5),
        ({"type": "f64", "divide_by": 10}, struct.pack(">d", 5.0), 0.5),
        ({"type": "f32", "as_text": True}, struct.pack(">f", 0.1), "0.1"),
        ({"type": "text", "length": 4}, b"ab\0\0", "ab"),
        ({"type": "bytes", "length": 2}, b"\0\0", "AAA="),
        ({"type": "text", "prefixed": True}, prefixed("王"), "王"),
        ({"type": "text", "prefixed": True, "length": 1}, prefixed("x\0", "B"), "x\0"),
        ({"type": "bytes", "prefixed": True, "length": 4}, prefixed("", "I"), ""),
    ],
)
def test_amounts_and_ids_are_exact(field: dict[str, Any], body: bytes, expected: Any) -> None:
    assert read(body, {"name": "user.id", **field}) == {"user": {"id": expected}}


def test_a5_an_amount_that_would_be_rounded_is_a_parse_error() -> None:
    with pytest.raises(MessageParseError, match="send it as text"):
        read(struct.pack(">q", 2**62 + 1), {"name": "a", "type": "i64", "divide_by": 100})


def broken(at: int, value: int) -> bytes:
    return BINARY[:at] + bytes([value]) + BINARY[at + 1 :]


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (broken(0, 0), "magic"),
        (b"", "magic"),
        (b'{"a": 1}', "magic"),
        (bytes.fromhex(MAGIC), "too early"),
        (broken(4, 2), "version"),
        (broken(8, 0), "not as long"),
        (broken(5, 255), "not as long"),
        (BINARY + b"\0", "not as long"),
        (BINARY[:-1], "not as long"),
        (broken(20, 1), "checksum"),
        (broken(len(BINARY) - 1, BINARY[-1] ^ 1), "checksum"),
    ],
)
def test_a5_a_bad_magic_version_length_or_checksum_is_a_parse_error(raw: bytes, complaint: str) -> None:
    with pytest.raises(MessageParseError, match=complaint):
        adapters().parse(raw, OCTETS)


def test_a5_every_truncation_and_every_flipped_byte_is_a_parse_error() -> None:
    reading = adapters()
    assert reading.parse(BINARY, OCTETS) == PAYMENT
    for at in range(len(BINARY)):
        for raw in (BINARY[:at], broken(at, BINARY[at] ^ 0x41)):
            with pytest.raises(MessageParseError):
                reading.parse(raw, OCTETS)


@pytest.mark.parametrize(
    ("kind", "body"),
    [("u32", b"\0\0\0"), ("u8", b"\0\0"), ("bool", b"\2"), ("text", b"\xff"), ("f64", struct.pack(">d", float("nan"))),
     ("f32", struct.pack(">f", float("inf"))), ("text", b"\xed\xa0\x80")],
)  # fmt: skip
def test_a5_a_body_that_does_not_fit_its_fields_is_a_parse_error(kind: str, body: bytes) -> None:
    with pytest.raises(MessageParseError):
        read(body, {"name": "a", "type": kind})


def test_a5_a_length_beyond_the_end_takes_no_memory() -> None:
    with pytest.raises(MessageParseError, match="ends within a field"):
        read(b"\xff\xff\xff\xffx", {"name": "a", "type": "text", "prefixed": True, "length": 4})
    huge = bytes.fromhex(MAGIC) + b"\1\xff\xff\xff\xff" + struct.pack(">I", crc32(b""))
    with pytest.raises(MessageParseError, match="not as long"):
        adapters().parse(huge, OCTETS)


def test_the_event_type_of_the_layout_is_that_of_the_payload_unless_a_field_says_it() -> None:
    fields = ({"name": "eventType", "type": "text", "length": 4},)
    assert read(b"mine", *fields, event_type="theirs") == {"eventType": "mine"}
    assert read(b"\0\0\0\0", *fields, event_type="theirs") == {"eventType": "theirs"}
    assert read(b"\0", {"name": "a", "type": "u8"}, event_type="theirs") == {"a": 0, "eventType": "theirs"}
    assert read(b"\0", {"name": "a", "type": "u8"}) == {"a": 0}
