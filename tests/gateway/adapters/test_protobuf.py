"""Protobuf messages become the payload of their JSON mapping, whole or not at all."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from tests.gateway.adapters.formats import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT32,
    MESSAGE,
    PAYMENT_SET,
    STRING,
    UINT64,
    described,
    descriptor_set,
    message,
    protobuf_payment,
)
from wechat_bridge.errors import MessageParseError, PayloadTooLarge, SettingsError, UnsupportedMediaType
from wechat_bridge.gateway.adapters.base import ContentType
from wechat_bridge.gateway.adapters.protobuf import ProtobufAdapter
from wechat_bridge.model.event_rules import Limits, ProtobufMessage

BYTES = FieldDescriptorProto.TYPE_BYTES

EVENT = descriptor_set(
    described(
        "Event",
        [("user_id", UINT64), ("ratio", FLOAT), ("amount", DOUBLE), ("flag", BOOL), ("raw", BYTES), ("inner", MESSAGE),
         ("numbers", INT32), ("details", MESSAGE), ("any", MESSAGE)],
        repeated=("numbers",),
        messages={"inner": ".acme.Event", "details": ".google.protobuf.Struct", "any": ".google.protobuf.Any"},
    ),
    needs=("google/protobuf/struct.proto", "google/protobuf/any.proto"),
)  # fmt: skip


def adapter(descriptors: str = EVENT, name: str = "acme.Event", **limits: Any) -> ProtobufAdapter:
    return ProtobufAdapter(
        {"e": ProtobufMessage(descriptor_set=descriptors, message=name)}, "meta.type", Limits(**limits)
    )


def parse(raw: bytes, **limits: Any) -> dict[str, Any]:
    return adapter(**limits).parse(raw, ContentType("application/x-protobuf"))


def event(**fields: Any) -> Any:
    made = message(EVENT, "acme.Event")
    for name, value in fields.items():
        (getattr(made, name).extend if name == "numbers" else lambda each, name=name: setattr(made, name, each))(value)
    return made


def test_ids_beyond_2_to_the_53_and_floats_stay_exact() -> None:
    payload = parse(event(user_id=2**64 - 1, ratio=0.1, amount=0.1, raw=b"\xff", numbers=[1, -2]).SerializeToString())
    assert payload == {
        "userId": "18446744073709551615", "ratio": 0.1, "amount": 0.1, "raw": "/w==", "numbers": [1, -2], "flag": False,
        "meta": {"type": "e"},
    }  # fmt: skip


def test_fields_without_presence_are_there_with_their_defaults_messages_only_if_sent() -> None:
    assert parse(b"") == {
        "userId": "0", "ratio": 0.0, "amount": 0.0, "raw": "", "numbers": [], "flag": False, "meta": {"type": "e"},
    }  # fmt: skip


@pytest.mark.parametrize("field", ["ratio", "amount"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a5_what_is_no_finite_number_is_a_parse_error(field: str, value: float) -> None:
    nested = event()
    setattr(nested.inner.inner, field, value)
    for raw in (event(**{field: value}).SerializeToString(), nested.SerializeToString()):
        with pytest.raises(MessageParseError, match="not finite"):
            parse(raw)
    inside = event()
    inside.details.update({"a": [{"b": value}]})
    with pytest.raises(MessageParseError, match="not finite"):
        parse(inside.SerializeToString())


def test_a5_truncated_messages_are_parse_errors_or_shorter_messages_but_never_anything_else() -> None:
    whole = protobuf_payment()
    reading = adapter(PAYMENT_SET, "acme.Payment")
    refused = 0
    for length in range(len(whole)):
        try:
            assert "amount" in reading.parse(whole[:length], ContentType("application/x-protobuf"))
        except MessageParseError:
            refused += 1
    assert refused > len(whole) / 2


@pytest.mark.parametrize(
    "raw", [b"\xff" * 20, b'{"orderId": "1"}', b"<a/>", b"\x0a\x05abc", b"\x0a\x02\xff\xfe", b"\x00"]
)
def test_a5_what_is_something_else_is_a_parse_error(raw: bytes) -> None:
    with pytest.raises(MessageParseError):
        adapter(PAYMENT_SET, "acme.Payment").parse(raw, ContentType("application/x-protobuf"))


def test_a5_fields_that_nobody_knows_are_a_parse_error_at_any_depth() -> None:
    for raw in (b"\xf8\x06\x01", event().SerializeToString() + b"\x32\x03\xf8\x06\x01"):
        with pytest.raises(MessageParseError, match="does not know"):
            parse(raw)


def test_a5_an_any_is_a_parse_error() -> None:
    holding = event()
    holding.any.Pack(event())
    with pytest.raises(MessageParseError, match="Any"):
        parse(holding.SerializeToString())


def test_a5_a_time_that_does_not_exist_is_a_parse_error() -> None:
    payment = message(PAYMENT_SET, "acme.Payment")
    payment.paid_at.seconds = 2**62
    with pytest.raises(MessageParseError):
        adapter(PAYMENT_SET, "acme.Payment").parse(payment.SerializeToString(), ContentType("application/x-protobuf"))


def test_a6_more_values_or_levels_than_allowed_are_refused() -> None:
    with pytest.raises(PayloadTooLarge):
        parse(event(numbers=[0] * 101).SerializeToString(), most_nodes=100)
    nested = event()
    inner = nested
    for _ in range(40):
        inner = inner.inner
        inner.flag = True
    with pytest.raises(PayloadTooLarge):
        parse(nested.SerializeToString())
    assert parse(nested.SerializeToString(), most_depth=64)["inner"]["inner"]["flag"] is True


def test_a6_a_message_nested_a_hundred_thousand_times_is_refused_at_once() -> None:
    raw = b""
    for _ in range(300):
        raw = b"\x32" + bytes([len(raw) & 0x7F | 0x80, len(raw) >> 7]) + raw
    with pytest.raises((MessageParseError, PayloadTooLarge)):
        parse(raw, most_depth=512)


def test_required_fields_that_are_missing_are_a_parse_error() -> None:
    file = descriptor_pb2.FileDescriptorProto(name="old.proto", package="acme", syntax="proto2")
    old = file.message_type.add(name="Old")
    old.field.add(name="id", number=1, type=STRING, label=FieldDescriptorProto.LABEL_REQUIRED)
    descriptors = b64encode(descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()).decode()
    with pytest.raises(MessageParseError):
        adapter(descriptors, "acme.Old").parse(b"", ContentType("application/x-protobuf"))
    for hostile in (b"\x0a\x01\xff",):
        with pytest.raises(MessageParseError):
            adapter(descriptors, "acme.Old").parse(hostile, ContentType("application/x-protobuf"))


@pytest.mark.parametrize(
    ("descriptors", "name", "complaint"),
    [
        ("?", "acme.Event", "protobuf.e.descriptor_set: cannot be used"),
        ("", "acme.Event", "protobuf.e.descriptor_set: cannot be used"),
        (b64encode(b"\xff\xff").decode(), "acme.Event", "protobuf.e.descriptor_set: cannot be used"),
        (descriptor_set(needs=("other.proto",)), "x", "protobuf.e.descriptor_set: cannot be used"),
        (EVENT, "acme.Other", "protobuf.e.message: the descriptor set has no 'acme.Other'"),
    ],
)
def test_descriptors_that_cannot_be_used_are_a_settings_error(descriptors: str, name: str, complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        adapter(descriptors, name)


def test_a_type_that_is_not_configured_is_named_as_such() -> None:
    with pytest.raises(UnsupportedMediaType, match=r"type=user\.login"):
        adapter().parse(b"", ContentType("application/x-protobuf", {"type": "other"}))
