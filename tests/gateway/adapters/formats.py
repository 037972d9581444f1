"""The same payment in four formats, as senders would write it, and the rules by which they are read."""

from __future__ import annotations

import struct
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto
from google.protobuf.message import Message

from wechat_bridge.gateway.adapters.registry import Adapters
from wechat_bridge.model.event_rules import EventRules

VENDOR = "application/vnd.acme.payment"
MAGIC = "57434245"

STRING, DOUBLE, FLOAT = (
    FieldDescriptorProto.TYPE_STRING,
    FieldDescriptorProto.TYPE_DOUBLE,
    FieldDescriptorProto.TYPE_FLOAT,
)
INT32, UINT64, BOOL = FieldDescriptorProto.TYPE_INT32, FieldDescriptorProto.TYPE_UINT64, FieldDescriptorProto.TYPE_BOOL
MESSAGE = FieldDescriptorProto.TYPE_MESSAGE

PAYMENT: dict[str, Any] = {
    "eventType": "payment.callback",
    "orderId": "007",
    "amount": 12.5,
    "status": "SUCCESS",
    "paidAt": "2026-11-30T08:00:00Z",
    "fresh": True,
    "count": 3,
    "user": {"id": "18446744073709551617", "name": "王小明"},
    "note": "&<>",
}

JSON = """{"eventType": "payment.callback", "orderId": "007", "amount": 12.50, "status": "SUCCESS",
 "paidAt": "2026-11-30T08:00:00Z", "fresh": true, "count": 3,
 "user": {"name": "\\u738b小明", "id": "18446744073709551617"}, "note": "&<>"}""".encode()

XML = """<?xml version="1.0" encoding="UTF-8"?>
<!-- a payment --><event xmlns="urn:acme:payments">
  <eventType>payment.callback</eventType><orderId>007</orderId><amount type="number"> 12.50 </amount>
  <status>SUCCESS</status><paidAt>2026-11-30T08:00:00Z</paidAt><fresh type="boolean">true</fresh>
  <count type="integer">3</count><user><id>18446744073709551617</id><name>王小明</name></user>
  <note><![CDATA[&]]>&lt;&gt;</note>
</event>""".encode()

Fields = list[tuple[str, int]]


def described(name: str, fields: Fields, **labels: Any) -> descriptor_pb2.DescriptorProto:
    """A message with these fields; those of ``repeated`` are, those of ``messages`` are of that message."""
    message = descriptor_pb2.DescriptorProto(name=name)
    for number, (field, kind) in enumerate(fields, start=1):
        many = field in labels.get("repeated", ())
        label = FieldDescriptorProto.LABEL_REPEATED if many else FieldDescriptorProto.LABEL_OPTIONAL
        added = message.field.add(name=field, number=number, type=kind, label=label)
        if field in labels.get("messages", {}):
            added.type_name = labels["messages"][field]
    return message


def descriptor_set(*messages: descriptor_pb2.DescriptorProto, needs: tuple[str, ...] = ()) -> str:
    """What ``protoc -o`` writes, in Base64."""
    file = descriptor_pb2.FileDescriptorProto(name="acme.proto", package="acme", syntax="proto3", dependency=needs)
    file.message_type.extend(messages)
    return b64encode(descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()).decode()


def message(described_by: str, name: str) -> Any:
    """A message to be filled by a sender, who has a class of their own."""
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(b64decode(described_by)).file:
        for needed in file.dependency:
            pool.AddSerializedFile(descriptor_pool.Default().FindFileByName(needed).serialized_pb)
        pool.AddSerializedFile(file.SerializeToString())
    made: Message = message_factory.GetMessageClass(pool.FindMessageTypeByName(name))()
    return made


PAYMENT_SET = descriptor_set(
    described("User", [("id", STRING), ("name", STRING)]),
    described(
        "Payment",
        [("order_id", STRING), ("amount", DOUBLE), ("status", STRING), ("paid_at", MESSAGE), ("fresh", BOOL),
         ("count", INT32), ("user", MESSAGE), ("note", STRING)],
        messages={"user": ".acme.User", "paid_at": ".google.protobuf.Timestamp"},
    ),
    needs=("google/protobuf/timestamp.proto",),
)  # fmt: skip


def protobuf_payment() -> bytes:
    payment = message(PAYMENT_SET, "acme.Payment")
    payment.order_id, payment.amount, payment.status = "007", 12.5, "SUCCESS"
    payment.paid_at.FromJsonString("2026-11-30T08:00:00Z")
    payment.fresh, payment.count, payment.user.id, payment.user.name = True, 3, "18446744073709551617", "王小明"
    payment.note = "&<>"
    written: bytes = payment.SerializeToString()
    return written


def frame(body: bytes, magic: str = MAGIC, version: int = 1) -> bytes:
    """A binary event around a body, as the documentation of the format says."""
    return bytes.fromhex(magic) + struct.pack(">BI", version, len(body)) + body + struct.pack(">I", crc32(body))


def prefixed(text: str, size: str = "H") -> bytes:
    encoded = text.encode()
    return struct.pack(f">{size}", len(encoded)) + encoded


LAYOUT: dict[str, Any] = {
    "magic": MAGIC,
    "event_type": "payment.callback",
    "fields": [
        {"name": "orderId", "type": "text", "length": 8},
        {"name": "amount", "type": "u32", "divide_by": 100},
        {"name": "status", "type": "text", "prefixed": True, "length": 1},
        {"name": "paidAt", "type": "text", "prefixed": True},
        {"name": "fresh", "type": "bool"},
        {"name": "count", "type": "i16"},
        {"name": "user.id", "type": "text", "prefixed": True},
        {"name": "user.name", "type": "text", "prefixed": True, "length": 4},
        {"name": "note", "type": "text"},
    ],
}

BINARY = frame(
    b"007".ljust(8, b"\0") + struct.pack(">I", 1250) + prefixed("SUCCESS", "B") + prefixed("2026-11-30T08:00:00Z")
    + b"\1" + struct.pack(">h", 3) + prefixed("18446744073709551617") + prefixed("王小明", "I") + b"&<>"
)  # fmt: skip


def rules(**more: Any) -> EventRules:
    """The rules of the payment in all formats, with other parts replaced."""
    base: dict[str, Any] = {
        "types": {"payment.callback": {"schema": {"model": "payment.callback", "mode": "passthrough"}}},
        "protobuf": {"payment.callback": {"descriptor_set": PAYMENT_SET, "message": "acme.Payment"}},
        "binary": {VENDOR: LAYOUT, "application/octet-stream": LAYOUT},
    }
    return EventRules.model_validate({**base, **more})


def adapters(**more: Any) -> Adapters:
    """Adapters of those rules."""
    return Adapters.from_rules(rules(**more))


def laid_out(fields: Sequence[Mapping[str, Any]], **layout: Any) -> Adapters:
    """Adapters with one layout of these fields for ``application/octet-stream``."""
    return adapters(binary={"application/octet-stream": {"magic": MAGIC, **layout, "fields": [*fields]}})
