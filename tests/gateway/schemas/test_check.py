"""Rules that cannot work are refused with type and path, all at once, and nothing is fetched for it."""

from __future__ import annotations

import socket
from threading import Thread
from typing import Any

import pytest

from tests.gateway.adapters.formats import rules as with_formats
from tests.gateway.schemas.events import rules
from wechat_bridge.errors import SettingsError
from wechat_bridge.gateway.schemas.check import check_rules
from wechat_bridge.gateway.schemas.registry import Schemas
from wechat_bridge.model.event_rules import EventRules

AT = "types.a.schema.json_schema"


def complaints(json_schema: dict[str, Any]) -> list[str]:
    found = rules({"a": {"json_schema": json_schema}})
    with pytest.raises(SettingsError) as refused:
        check_rules(found)
    with pytest.raises(SettingsError) as refused_too:
        Schemas.from_rules(found)
    assert str(refused.value) == str(refused_too.value)
    return str(refused.value).splitlines()


def pass_checks(found: EventRules) -> bool:
    check_rules(found)
    return Schemas.from_rules(found) is not None


def test_rules_that_can_work_pass() -> None:
    draft = "https://json-schema.org/draft/2020-12/schema"
    assert pass_checks(rules())
    assert pass_checks(with_formats())
    assert pass_checks(rules({"a": {"json_schema": {"$schema": draft}}}))


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ({"type": "strin"}, f"{AT}.type: 'strin' is not valid under any of the given schemas"),
        ({"properties": {"x": {"minimum": "1"}}}, f"{AT}.properties.x.minimum: '1' is not of type 'number'"),
        ({"properties": []}, f"{AT}.properties: [] is not of type 'object'"),
        ({"required": "x"}, f"{AT}.required: 'x' is not of type 'array'"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, f"{AT}.$schema: should be https://json-schema.org/draft/"),
        ({"$schema": 7}, f"{AT}.$schema: should be"),
        ({"properties": {"x": {"pattern": "("}}}, f"{AT}.properties.x.pattern: cannot be used as a pattern"),
        ({"pattern": "(?=a)"}, f"{AT}.pattern: cannot be used as a pattern (look-around"),
        ({"pattern": r"(a)\1"}, f"{AT}.pattern: cannot be used as a pattern"),
        ({"pattern": "((a{999}){999}){999}"}, f"{AT}.pattern: cannot be used as a pattern"),
        ({"patternProperties": {"[": {}}}, f'{AT}.patternProperties["["]: cannot be used as a pattern'),
        ({"items": {"format": "iri"}}, f"{AT}.items.format: is not checked here; these are: date"),
        ({"$ref": "http://127.0.0.1:1/x"}, f"{AT}.$ref: should refer to a part of the same schema"),
        ({"$ref": "other.json"}, f"{AT}.$ref: should refer to a part of the same schema"),
        ({"items": {"$ref": "#/$defs/x"}}, f"{AT}.items.$ref: refers to a part that the schema does not have"),
        ({"$defs": {"x": {}}, "$ref": "#/$defs"}, f"{AT}.$ref: refers to something that is no schema"),
        ({"const": {"a": {}}, "$ref": "#/const/a"}, f"{AT}.$ref: refers to something that is no schema"),
        ({"$ref": "#"}, f"{AT}: refers to itself"),
        ({"$defs": {"x": {"allOf": [{"$ref": "#/$defs/x"}]}}}, f"{AT}.$defs.x: refers to itself"),
        ({"items": {"$dynamicRef": "#x"}}, f"{AT}.items.$dynamicRef: is not supported"),
        ({"$anchor": "x"}, f"{AT}.$anchor: is not supported"),
        ({"items": {"$id": "http://x/"}}, f"{AT}.items.$id: is allowed for the whole only"),
        ({"unevaluatedProperties": False, "patternProperties": {"a": {}}}, f"{AT}.unevaluatedProperties: cannot"),
    ],
)  # fmt: skip
def test_a_schema_that_cannot_work_is_named_by_type_and_path(schema: dict[str, Any], complaint: str) -> None:
    [line] = complaints(schema)
    assert line.startswith(complaint)


def test_a_schema_that_refers_to_itself_a_level_further_is_good() -> None:
    schema = {"properties": {"next": {"$ref": "#"}}, "not": {"required": ["x"]}}
    assert pass_checks(rules({"a": {"json_schema": schema}}))


def test_a_schema_that_is_nested_or_large_beyond_reason_is_named() -> None:
    deep: dict[str, Any] = {}
    for _ in range(2_000):
        deep = {"items": deep}
    assert complaints(deep) == [f"{AT}: is nested too deeply"]
    assert complaints({"properties": {f"p{n}": {} for n in range(3_000)}}) == [f"{AT}: has more than 2000 parts"]


def test_all_faults_of_all_types_and_formats_are_told_at_once() -> None:
    found = with_formats(
        types={
            "a": {"schema": {"json_schema": {"properties": {"x": {"pattern": "("}, "y": {"format": "no"}}}}},
            "b": {"schema": {"model": "nobody"}},
        },
        protobuf={"c": {"descriptor_set": "%", "message": "m"}},
    )
    with pytest.raises(SettingsError) as refused:
        check_rules(found)
    lines = str(refused.value).splitlines()
    assert [line.partition(": ")[0] for line in lines] == [
        f"{AT}.properties.x.pattern", f"{AT}.properties.y.format", "types.b.schema.model", "protobuf.c.descriptor_set",
    ]  # fmt: skip
    assert "payment.callback, user.login" in lines[2]


def test_nothing_is_ever_fetched() -> None:
    asked: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)

        def answer() -> None:
            try:
                asked.append(server.accept())
            except OSError:
                return

        waiting = Thread(target=answer, daemon=True)
        waiting.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        assert complaints({"$ref": address})
        assert complaints({"$schema": address})
        check_rules(rules({"a": {"json_schema": {"$id": address, "properties": {"x": {"$ref": "#/$defs/y"}},
                                                 "$defs": {"y": {"type": "string"}}}}}))  # fmt: skip
        Schemas.from_rules(rules({"a": {"json_schema": {"$id": address, "properties": {"x": {"$ref": "#/$defs/y"}},
                                                        "$defs": {"y": {}}}}})).validate("a", {"x": 1})  # fmt: skip
        server.shutdown(socket.SHUT_RDWR)
    waiting.join(10)
    assert asked == []
