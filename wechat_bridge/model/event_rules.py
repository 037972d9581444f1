"""How events are treated: one validated document, which may change while processes run."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from wechat_bridge.model.engine import URL_PATTERN
from wechat_bridge.model.keys import SHARE_ID_PATTERN

TYPE_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$"
DAY_SECONDS = 86_400

EventTypeName = Annotated[str, Field(pattern=TYPE_PATTERN)]
FieldPath = Annotated[str, Field(pattern=r"^[^\s.\[\]]+(\.[^\s.\[\]]+)*$", max_length=256)]
"""Names a field of a payload, as in ``user.id``."""


ANY = "*"
"""Ends a pattern that stands for every type that begins so."""


def fits(pattern: str, event_type: str) -> bool:
    """Whether a pattern like ``user.login``, ``payment.*`` or ``*`` stands for a type of event."""
    if pattern.endswith(ANY):
        return event_type.startswith(pattern.removesuffix(ANY))
    return event_type == pattern


class Rule(BaseModel):
    """What all rules have in common: an unknown field is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SchemaRule(Rule):
    """What a payload has to look like: a model of the registry by name, or a JSON Schema (draft 2020-12).

    Strict: an unknown field is an error. Passthrough: it is kept as it came.
    """

    model: str = Field(default="", description="name of a registered model, as in user.login")
    json_schema: dict[str, Any] | None = Field(default=None, description="or a JSON Schema")
    mode: Literal["strict", "passthrough"] = "strict"

    @model_validator(mode="after")
    def _one_of_both(self) -> SchemaRule:
        if bool(self.model) == (self.json_schema is not None):
            raise ValueError("should have either model or json_schema")
        return self


class DedupeRule(Rule):
    """When two events are the same one.

    ``key``: a template over the payload, as in ``dedup:payment:{orderId}:{status}``. ``message_id``: the field
    ``id_field`` within those of ``scope`` that the payload has. ``fingerprint``: the whole payload but for the fields
    of ``ignore``, whatever the order of its keys. ``none``: never.
    """

    by: Literal["none", "key", "message_id", "fingerprint"] = "none"
    key: str = ""
    id_field: FieldPath = "messageId"
    scope: tuple[FieldPath, ...] = ("channel", "account", "chat", "thread")
    ignore: tuple[FieldPath, ...] = ("timestamp",)
    lifetime_seconds: int = Field(default=DAY_SECONDS, ge=1, le=366 * DAY_SECONDS)
    version_field: FieldPath | None = Field(default=None, description="grows with each change of its subject")
    subject: str = Field(default="", description="template that names what has versions")
    stale: Literal["process", "ignore"] = Field(default="process", description="what becomes of an older version")

    @model_validator(mode="after")
    def _complete(self) -> DedupeRule:
        if (self.by == "key") != bool(self.key):
            raise ValueError("key should be given where by is key, and only there")
        if (self.version_field is None) != (self.subject == ""):
            raise ValueError("version_field and subject belong together")
        return self


class WindowRule(Rule):
    """Which events of one key go on as one, or one in a while.

    ``merge`` joins them, ``replace`` lets the last one go on, ``throttle`` lets at most one go on in ``wait_ms``, the
    newest. An event with one of the fields ``at_once``, or whose text is one of ``stop_words`` or begins with ``/``,
    does not wait: what waits goes first, then it.
    """

    key: str = "debounce:user:{userId}"
    wait_ms: int | None = Field(default=None, ge=0, le=3_600_000, description="0: no window; none: that of all types")
    most_windows: int = Field(default=5, ge=1, le=1000, description="latest end, in waits since the first event")
    most_items: int = Field(default=20, ge=1, le=1000)
    mode: Literal["merge", "replace", "throttle"] = "merge"
    at_once: tuple[FieldPath, ...] = ("media", "location", "quote", "replyTo", "command")
    stop_words: tuple[str, ...] = ("stop", "停", "停止")
    on_stop: Literal["flush", "cancel"] = Field(default="flush", description="what a stop word does to what waits")


class RetryRule(Rule):
    """How often and how fast a failed dispatch is tried again."""

    max_retries: int = Field(default=3, ge=0, le=20)
    base_seconds: float = Field(default=2.0, gt=0, le=3600)
    cap_seconds: float = Field(default=300.0, gt=0, le=86_400)


class TaskTarget(Rule):
    """A Celery task of one's own, called with the event as its one argument; the event's id is its task id."""

    kind: Literal["task"]
    task: str = Field(min_length=1)
    queue: str = Field(min_length=1)


class QueueTarget(Rule):
    """A queue or exchange of the broker, which gets the event as JSON. ``url`` "": the bridge's own Redis."""

    kind: Literal["queue"]
    url: SecretStr = SecretStr("")
    exchange: str = ""
    routing_key: str = Field(min_length=1)


class HttpTarget(Rule):
    """An address that gets the event by POST, signed as the webhook engine's requests are; 2xx says it has it."""

    kind: Literal["http"]
    url: str = Field(pattern=URL_PATTERN)
    secret: SecretStr = SecretStr("")
    timeout_seconds: float = Field(default=10.0, gt=0, le=300)


class ConversationTarget(Rule):
    """A person on a channel of the bridge, who gets a text within the channel's send rules.

    ``user`` and ``text`` are templates over the payload, as in ``{openid}`` and ``已收到付款 {amount} 元``.
    """

    kind: Literal["conversation"]
    share_id: str = Field(pattern=SHARE_ID_PATTERN)
    user: str = Field(min_length=1)
    text: str = Field(min_length=1)


Target = Annotated[TaskTarget | QueueTarget | HttpTarget | ConversationTarget, Field(discriminator="kind")]


class Route(Rule):
    """Where events go: the first route that fits. ``routing_key`` is that header; ``type`` may end with ``*``."""

    type: str = Field(default="*", pattern=r"^(\*|[A-Za-z0-9][A-Za-z0-9_.:-]*\*?)$")
    routing_key: str = ""
    target: Target


class EventType(Rule):
    """The rules of one type of event."""

    schema_: SchemaRule = Field(alias="schema")
    dedupe: DedupeRule = DedupeRule()
    debounce: WindowRule = WindowRule(wait_ms=0)
    degrade: Literal["open", "closed"] = Field(
        default="open", description="while Redis is away: open lets events pass, closed answers 503"
    )
    retry: RetryRule = RetryRule()

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class ProtobufMessage(Rule):
    """A Protobuf message: ``descriptor_set`` is a FileDescriptorSet in Base64 (``protoc -o``), ``message`` its name."""

    descriptor_set: str
    message: str


class BinaryField(Rule):
    """One field of a binary layout, read in the order in which they stand.

    ``length``: for ``text`` and ``bytes`` a number of bytes, or the size in bytes (1, 2, 4) of the length before it
    where ``prefixed``.
    """

    name: FieldPath
    type: Literal["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64", "bool", "text", "bytes"]
    length: int | None = Field(default=None, ge=1)
    prefixed: bool = False
    as_text: bool = Field(default=False, description="give a number as text, for ids beyond 2^53")
    divide_by: int = Field(default=1, ge=1, description="for amounts in hundredths and the like")


class BinaryLayout(Rule):
    """A frame: ``magic`` (hex), version byte, length of the body, the body, CRC-32 of the body; big-endian."""

    magic: str = Field(pattern="^([0-9a-fA-F]{2}){1,16}$")
    version: int = Field(default=1, ge=0, le=255)
    event_type: str = ""
    fields: tuple[BinaryField, ...] = Field(min_length=1)


class Limits(Rule):
    """What an event may cost before it is known to be one."""

    most_bytes: int = Field(default=1024 * 1024, ge=1, le=64 * 1024 * 1024)
    most_depth: int = Field(default=32, ge=1, le=512)
    most_nodes: int = Field(default=100_000, ge=1, description="values in one payload")
    most_batch: int = Field(default=500, ge=1, le=10_000)


class DegradeRule(Rule):
    """When Redis is left alone, and when somebody is told."""

    timeout_ms: int = Field(default=200, ge=1, le=10_000)
    failures: int = Field(default=5, ge=1, description="in a row that open the breaker")
    open_seconds: float = Field(default=10.0, gt=0, description="pause before one event tries")
    alarm_seconds: float = Field(default=300.0, gt=0, description="one alarm in so long")
    error_rate: float = Field(default=0.2, gt=0, le=1, description="share of calls that fail which is an alert")


class ApiKey(Rule):
    """Who may send events by HTTP: ``sha256`` is that of the key, in hex; ``types`` may end with ``*``."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    types: tuple[str, ...] = ("*",)


class BrokerQueue(Rule):
    """A queue of a broker whose messages are events. ``url`` "": the bridge's own Redis."""

    url: SecretStr = SecretStr("")
    queue: str = Field(min_length=1)
    exchange: str = ""
    routing_key: str = ""
    event_type: str = ""


class EventRules(Rule):
    """Everything about events. An event whose type is not among ``types`` is rejected."""

    types: dict[EventTypeName, EventType] = Field(default_factory=dict)
    routes: tuple[Route, ...] = ()
    limits: Limits = Limits()
    protobuf: dict[str, ProtobufMessage] = Field(default_factory=dict, description="by event type")
    binary: dict[str, BinaryLayout] = Field(default_factory=dict, description="by content type")
    type_field: FieldPath = "eventType"
    wait_ms: int = Field(default=1_000, ge=0, le=3_600_000, description="window of types that say nothing else")
    most_windows_open: int = Field(default=10_000, ge=1)
    max_context_age_seconds: float = Field(default=300.0, gt=0)
    degrade: DegradeRule = DegradeRule()
    keys: dict[str, ApiKey] = Field(default_factory=dict, description="by the name of who has it; none: nobody may")
    consume: tuple[BrokerQueue, ...] = ()

    def wait_seconds(self, event_type: str) -> float:
        """Return how long an event of this type waits for others; 0: not at all."""
        own = self.types[event_type].debounce.wait_ms
        return (self.wait_ms if own is None else own) / 1000
