"""Protobuf messages by their descriptors, to the payload of their JSON mapping (protobuf.dev, "ProtoJSON Format").

Names are in lowerCamelCase (or the field's ``json_name``), enums are their names, bytes Base64, 64-bit integers are
texts, ``google.protobuf.Timestamp`` is ISO 8601. A field without presence is always there, with its default;
``optional`` ones and messages only when they were sent. An amount that has to be exact is an ``int32``, a ``string`` or
a ``double`` of up to 15 digits. Fields that the descriptors do not know are an error: nobody could say what they mean.
"""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf.json_format import MessageToDict, SerializeToJsonError
from google.protobuf.message import DecodeError, Message

from wechat_bridge.errors import MessageParseError, UnsupportedMediaType
from wechat_bridge.gateway.adapters.base import ContentType
from wechat_bridge.gateway.adapters.descriptors import message_class
from wechat_bridge.gateway.adapters.fields import put_missing
from wechat_bridge.gateway.adapters.limits import measured
from wechat_bridge.gateway.adapters.message_walk import check_values
from wechat_bridge.model.event import JsonObject
from wechat_bridge.model.event_rules import Limits, ProtobufMessage

TYPES = frozenset({"application/x-protobuf", "application/protobuf", "application/vnd.google.protobuf"})


class ProtobufAdapter:
    """Reads ``application/x-protobuf`` and its other names.

    A parameter ``type`` or ``messageType`` of the content type says which message it is, by the type of event or by the
    name of the message; without it there has to be only one. ``type_field`` gets the type of event, unless the message
    says it itself. Raises SettingsError for descriptors that cannot be used.
    """

    name = "protobuf"

    def __init__(self, messages: Mapping[str, ProtobufMessage], type_field: str, limits: Limits) -> None:
        self._classes = {event_type: message_class(event_type, rule) for event_type, rule in messages.items()}
        self._by_name = {rule.message: event_type for event_type, rule in messages.items()}
        self._type_field = type_field
        self._limits = limits

    def can_parse(self, content_type: ContentType) -> bool:
        """Tell whether it is Protobuf, and any message is known."""
        return content_type.type in TYPES and bool(self._classes)

    def parse(self, raw: bytes, content_type: ContentType) -> JsonObject:
        """Return the fields. Raises MessageParseError, PayloadTooLarge, UnsupportedMediaType."""
        event_type = self._event_type(content_type.event_type)
        try:
            payload = self._fields(self._classes[event_type](), raw)
        except (DecodeError, SerializeToJsonError, ValueError, TypeError, OverflowError) as error:
            raise MessageParseError("it is not the Protobuf message that it should be") from error
        put_missing(payload, self._type_field, event_type)
        return measured(payload, self._limits)

    def _event_type(self, stated: str) -> str:
        found = stated if stated in self._classes else self._by_name.get(stated)
        if found is None and not stated and len(self._classes) == 1:
            return next(iter(self._classes))
        if found is None:
            raise UnsupportedMediaType(
                "no Protobuf message is known by that type; name one that is configured (protobuf) in the content "
                "type, as in application/x-protobuf; type=user.login"
            )
        return found

    def _fields(self, message: Message, raw: bytes) -> JsonObject:
        message.ParseFromString(raw)
        if not message.IsInitialized():
            raise MessageParseError("a Protobuf message lacks fields that its descriptor requires")
        check_values(message, self._limits)
        size = message.ByteSize()
        message.DiscardUnknownFields()
        if message.ByteSize() != size:
            raise MessageParseError("a Protobuf message has fields that its descriptor set does not know; renew it")
        payload: JsonObject = MessageToDict(message, always_print_fields_with_no_presence=True)
        return payload
