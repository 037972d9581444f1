"""The class of a Protobuf message, from the descriptor set of the configuration."""

from __future__ import annotations

from base64 import b64decode

from google.protobuf import (
    any_pb2,
    descriptor_pb2,
    descriptor_pool,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    message_factory,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)
from google.protobuf.message import DecodeError, Message

from wechat_bridge.errors import SettingsError
from wechat_bridge.model.event_rules import ProtobufMessage

_SHIPPED = (any_pb2, duration_pb2, empty_pb2, field_mask_pb2, struct_pb2, timestamp_pb2, wrappers_pb2)
WELL_KNOWN = {module.DESCRIPTOR.name: module.DESCRIPTOR.serialized_pb for module in _SHIPPED}
"""Files of protobuf's own, which descriptor sets made without ``--include_imports`` refer to."""


def message_class(event_type: str, rule: ProtobufMessage) -> type[Message]:
    """Return the class of a message. Raises SettingsError, which names the rule and says what to do."""
    try:
        pool = _pool(rule.descriptor_set)
    except (ValueError, DecodeError, TypeError) as error:
        raise SettingsError(
            f"protobuf.{event_type}.descriptor_set: cannot be used, make it with "
            f"`protoc --include_imports -o FILE` and give the file in Base64 ({error})"
        ) from error
    try:
        return message_factory.GetMessageClass(pool.FindMessageTypeByName(rule.message))
    except KeyError:
        raise SettingsError(f"protobuf.{event_type}.message: the descriptor set has no {rule.message!r}") from None


def _pool(descriptor_set: str) -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet.FromString(b64decode(descriptor_set, validate=True)).file
    if not files:
        raise ValueError("no file is in it")
    given = {file.name for file in files}
    needed = {name for file in files for name in file.dependency}
    for name in sorted((needed - given) & WELL_KNOWN.keys()):
        pool.AddSerializedFile(WELL_KNOWN[name])
    for file in files:
        pool.AddSerializedFile(file.SerializeToString())
    return pool
