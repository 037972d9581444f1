"""Which adapter reads what, and that the same event is equal in all formats."""

from __future__ import annotations

import struct
from json import dumps
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.gateway.adapters.formats import BINARY, JSON, PAYMENT, VENDOR, XML, adapters, protobuf_payment, rules
from wechat_bridge.errors import EventRefused, MessageParseError, PayloadTooLarge, UnsupportedMediaType
from wechat_bridge.gateway.adapters.base import ContentType
from wechat_bridge.gateway.adapters.registry import GROUP, Adapters
from wechat_bridge.gateway.schemas.registry import Schemas
from wechat_bridge.model.event import JsonObject
from wechat_bridge.model.event_rules import Limits

FORMATS = [
    ("application/json; charset=utf-8", JSON),
    ("APPLICATION/JSON;Charset=\"UTF-8\"; v=1", JSON),
    ("text/json", JSON),
    ("application/vnd.acme+json", JSON),
    ("application/xml", XML),
    ("text/XML; charset=utf-8", XML),
    ("application/atom+xml", XML),
    ("application/x-protobuf", protobuf_payment()),
    ("Application/X-Protobuf; messageType=acme.Payment", protobuf_payment()),
    ("application/x-protobuf; TYPE=payment.callback", protobuf_payment()),
    ("application/octet-stream", BINARY),
    (VENDOR.upper(), BINARY),
]  # fmt: skip


@pytest.mark.parametrize(("content_type", "raw"), FORMATS, ids=[content_type for content_type, _ in FORMATS])
def test_a2_the_adapter_whose_type_it_is_reads_it_whatever_its_case_and_parameters(
    content_type: str, raw: bytes
) -> None:
    assert adapters().parse(raw, content_type) == PAYMENT


def test_a3_the_same_event_in_four_formats_gives_equal_payloads_that_pass_the_same_schema() -> None:
    reading, schemas = adapters(), Schemas.from_rules(rules())
    payloads = [reading.parse(raw, content_type) for content_type, raw in FORMATS]
    typed = [schemas.validate("payment.callback", each) for each in payloads]
    assert typed == [{**PAYMENT, "amount": "12.5"}] * len(FORMATS)
    assert len({dumps(each, sort_keys=True) for each in payloads}) == 1, "not even their texts differ"


NO_TYPES = ["", "text/plain", "application/jsonp", "json", "application/json, text/xml", "a/" + "b" * 9_999,
            "multipart/form-data; boundary=x", "\ud800/\0"]  # fmt: skip


@pytest.mark.parametrize("content_type", NO_TYPES, ids=range(len(NO_TYPES)))
def test_a4_a_type_that_no_adapter_reads_is_an_unsupported_media_type(content_type: str) -> None:
    with pytest.raises(UnsupportedMediaType) as refused:
        adapters().parse(JSON, content_type)
    assert (refused.value.status, refused.value.stage) == (415, "parse")
    assert "application/json" in str(refused.value)
    assert len(str(refused.value)) < 500


def test_a4_without_descriptors_and_layouts_those_formats_are_not_read() -> None:
    reading = adapters(protobuf={}, binary={})
    for content_type in ("application/x-protobuf", "application/octet-stream"):
        with pytest.raises(UnsupportedMediaType):
            reading.parse(b"x", content_type)


def test_a6_a_body_over_the_limit_is_not_even_looked_at() -> None:
    reading = adapters(limits={"most_bytes": 100})
    with pytest.raises(PayloadTooLarge, match="100 bytes") as refused:
        reading.parse(b"{" * 101, "application/json")
    assert refused.value.status == 413
    with pytest.raises(MessageParseError):
        reading.parse(b"{" * 30, "application/json")


class Shout:
    """An adapter of somebody else."""

    def can_parse(self, content_type: ContentType) -> bool:
        if content_type.parameters.get("v"):
            return int(content_type.parameters["v"]) > 1
        return content_type.type in {"text/shout", "application/json"}

    def parse(self, raw: bytes, content_type: ContentType) -> JsonObject:
        if raw == b"fail":
            raise KeyError("secret-in-a-key")
        if raw == b"short":
            return {"shouted": struct.unpack(">I", raw)}
        if raw == b"deep":
            return self.parse(raw, content_type)
        return {
            "shouted": {"set": {1}, "nan": float("nan"), "list": [1], "huge": 10**9_000}.get(
                raw.decode(), raw.decode().upper()
            )
        }


PACKAGE = f"""from wechat_bridge.gateway.adapters.base import ContentType
from {__name__} import Shout as Own
"""


def install(folder: Path, source: str, entries: str) -> None:
    """Put a package with these entry points there."""
    (folder / "own_adapter.py").write_text(source)
    info = folder / "own_adapter-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-adapter\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{entries}")


def test_a7_an_adapter_of_a_package_is_used_when_its_type_arrives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, PACKAGE, "shout = own_adapter:Own\n")
    with pytest.raises(UnsupportedMediaType):
        adapters().parse(b"hi", "text/shout")
    monkeypatch.syspath_prepend(tmp_path)
    assert adapters().parse(b"hi", "text/shout; x=y") == {"shouted": "HI"}


def test_a7_of_two_for_the_same_input_the_first_is_used_and_it_is_said_once() -> None:
    ours = adapters()
    for first, expected in ((True, "HI"), (False, None)):
        order: list[Any] = [Shout(), *ours._adapters] if first else [*ours._adapters, Shout()]
        reading = Adapters(order, Limits())
        with capture_logs() as logs:
            for _ in range(3):
                if first:
                    assert reading.parse(b"hi", "application/json")["shouted"] == expected
                else:
                    assert reading.parse(JSON, "application/json") == PAYMENT
            assert reading.parse(b"hi", "text/shout") == {"shouted": "HI"}
        [line] = logs
        assert (line["event"], line["log_level"], line["content_type"]) == (
            "adapters_overlap", "warning", "application/json",
        )  # fmt: skip
        assert ("Shout" in line["used"]) is first
        assert len(line["not_used"]) == 1


@pytest.mark.parametrize("raw", [b"fail", b"short", b"set", b"nan", b"huge", b"\xff"])
def test_a7_whatever_an_adapter_of_a_package_does_the_event_is_refused_and_nothing_else_is_raised(raw: bytes) -> None:
    with pytest.raises(MessageParseError) as refused:
        Adapters([Shout()], Limits()).parse(raw, "text/shout")
    assert "secret" not in str(refused.value)


def test_a7_an_adapter_that_cannot_say_what_it_reads_stands_in_nobodys_way_and_it_is_said_once() -> None:
    reading = Adapters([Shout(), *adapters()._adapters], Limits())
    with capture_logs() as logs:
        for _ in range(3):
            assert reading.parse(JSON, "application/json; v=x") == PAYMENT
    [line] = logs
    assert (line["event"], line["error_class"]) == ("adapter_cannot_say_what_it_reads", "ValueError")


def test_a7_an_adapter_of_a_package_is_held_to_the_limits() -> None:
    with pytest.raises(PayloadTooLarge):
        Adapters([Shout()], Limits()).parse(b"deep", "text/shout")
    with pytest.raises(PayloadTooLarge):
        Adapters([Shout()], Limits(most_depth=1)).parse(b"list", "text/shout")


def test_a_header_names_the_message_where_the_content_type_does_not() -> None:
    reading = adapters(protobuf={**rules().model_dump()["protobuf"],
                                 "other": rules().model_dump()["protobuf"]["payment.callback"]})  # fmt: skip
    assert reading.parse(protobuf_payment(), "application/x-protobuf", "payment.callback") == PAYMENT
    assert reading.parse(protobuf_payment(), "application/x-protobuf", "other")["eventType"] == "other"
    for event_type in ("", "unknown"):
        with pytest.raises(UnsupportedMediaType, match="no Protobuf message"):
            reading.parse(protobuf_payment(), "application/x-protobuf", event_type)


def test_every_refusal_is_of_the_one_class_that_sources_answer() -> None:
    assert all(issubclass(kind, EventRefused) for kind in (MessageParseError, PayloadTooLarge, UnsupportedMediaType))
