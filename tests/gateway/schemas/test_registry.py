"""Each type has its schema, built once; what it does not know is an error or kept, as its mode says."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from tests.gateway.schemas.events import LOGIN, PAYMENT, faults, of, schemas
from wechat_bridge.errors import EventRefused, SettingsError, ValidationError
from wechat_bridge.gateway.schemas.models import GROUP
from wechat_bridge.gateway.schemas.registry import Schemas

ORDER: dict[str, Any] = {
    "type": "object",
    "required": ["id", "lines"],
    "properties": {
        "id": {"type": "string"},
        "lines": {"type": "array", "items": {"properties": {"sku": {"type": "string"}, "count": {"minimum": 1}}}},
    },
}


@pytest.mark.parametrize("event_type", ["user.logout", "", "User.Login", "x" * 5_000, "\0\n"])
def test_b1_an_unknown_or_missing_type_is_refused_and_named(event_type: str) -> None:
    with pytest.raises(ValidationError) as refused:
        schemas().validate(event_type, {})
    assert str(refused.value) == "Unsupported event type"
    [(path, reason)] = refused.value.errors
    assert path == "eventType"
    assert (repr(event_type[:100])[1:-1] if event_type else "is missing") in reason
    assert len(reason) < 400
    assert refused.value.status == 400


def test_b1_the_field_that_is_named_is_the_one_that_the_rules_say() -> None:
    with pytest.raises(ValidationError) as refused:
        schemas(type_field="meta.type").validate("", {})
    assert refused.value.errors == (("meta.type", "is missing"),)


def test_b2_unknown_fields_of_a_strict_schema_are_each_named() -> None:
    assert faults(schemas(), "user.login", {**LOGIN, "admin": True, "a.b": 1, "user_id": 1}) == {
        "admin": "is not a known field",
        '["a.b"]': "is not a known field",
        "user_id": "is not a known field",
    }
    payload = {"id": "1", "lines": [{"sku": "a", "price": 1}], "x": 1}
    assert faults(of(ORDER), "e", payload) == {
        "lines[0].price": "is not a known field", "x": "is not a known field",
    }  # fmt: skip


def test_b2_strict_is_the_default() -> None:
    assert faults(schemas({"e": {"json_schema": ORDER}}), "e", {"id": "1", "lines": [], "x": 1}) == {
        "x": "is not a known field"
    }


EXTRAS: dict[str, Any] = {
    "big": 2**80, "decimal": 0.1, "text": "  王\u200b\0 ",
    "nested": {"b": [1, None, {"z": True, "a": "1.50"}], "a": {}},
    "": "", "a.b": [], "amount ": "1",
}  # fmt: skip


def test_b3_extra_fields_of_a_passthrough_schema_are_kept_as_they_came() -> None:
    typed = schemas().validate("payment.callback", {**PAYMENT, **EXTRAS})
    assert repr({name: typed[name] for name in EXTRAS}) == repr(EXTRAS)
    assert repr(of(ORDER, "passthrough").validate("e", {"id": "1", "lines": [{"x": EXTRAS}]})) == repr(
        {"id": "1", "lines": [{"x": EXTRAS}]}
    )


class Line(BaseModel):
    """A part of a package's model, which ignores what it does not know as pydantic does by itself."""

    count: int
    note: str = "none"


class Order(BaseModel):
    """A package's model."""

    lines: list[Line]
    first: Line | None = None

    @field_validator("first")
    @classmethod
    def fails(cls, line: Line | None) -> Line | None:
        """Fail as somebody else's code may."""
        if line is not None and line.count == 13:
            raise KeyError(line.note)
        if line is not None and line.count == 14:
            raise ValueError(f"the secret is {line.note}")
        return line


def install(folder: Path, entries: str) -> None:
    """Put a package with these entry points there."""
    info = folder / "own_schema-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-schema\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{entries}")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Schemas]:
    """Schemas of a package's model, in a mode."""
    install(tmp_path, f"order = {__name__}:Order\nuser.login = {__name__}:Order\n")
    monkeypatch.syspath_prepend(tmp_path)
    return lambda mode: schemas({"order": {"model": "order", "mode": mode}, "user.login": {"model": "user.login"}})


def test_b3_extra_fields_are_kept_at_any_depth_beside_what_is_typed(own: Callable[[str], Schemas]) -> None:
    payload = {"lines": [{"count": "2", "x": EXTRAS}], "first": {"count": 3, "y": 1}, "z": [EXTRAS]}
    typed = own("passthrough").validate("order", payload)
    assert repr(typed) == repr(
        {"lines": [{"count": 2, "x": EXTRAS}], "first": {"count": 3, "y": 1}, "z": [EXTRAS]}
    )  # fmt: skip


def test_b2_extra_fields_are_named_at_any_depth_whatever_the_model_thinks_of_them(
    own: Callable[[str], Schemas],
) -> None:
    assert faults(own("strict"), "order", {"lines": [{"count": 1, "x": 1}], "first": {"count": 1, "y": 1}, "z": 1}) == {
        "lines[0].x": "is not a known field", "first.y": "is not a known field", "z": "is not a known field",
    }  # fmt: skip


def test_our_own_models_are_not_replaced_by_a_package(own: Callable[[str], Schemas]) -> None:
    assert own("strict").validate("user.login", LOGIN)["ip"] == "192.0.2.7"


@pytest.mark.parametrize("count", [13, 14])
def test_whatever_a_packages_model_does_the_event_is_refused_and_no_value_is_told(
    own: Callable[[str], Schemas], count: int
) -> None:
    with pytest.raises(EventRefused) as refused:
        own("strict").validate("order", {"lines": [], "first": {"count": count, "note": "hunter2"}})
    assert isinstance(refused.value, ValidationError)
    assert "hunter2" not in f"{refused.value} {refused.value.errors}"


def test_an_entry_point_that_is_no_model_is_a_settings_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, f"bad = {__name__}:install\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SettingsError, match="entry point bad"):
        schemas()


def test_b4_all_that_is_wrong_is_told_by_path_and_no_value_is() -> None:
    names = ("userId", "ip", "timestamp", "success")
    secret = {**dict.fromkeys(names, "hunter2"), "userAgent": ["hunter2"], "deviceId": "hunter2" * 100}
    found = faults(schemas(), "user.login", secret)
    assert list(found) == ["deviceId", "ip", "success", "timestamp", "userAgent", "userId"]
    assert "hunter2" not in str(found)
    assert found["timestamp"] == "should be a time like 2026-11-30T08:00:00+08:00"
    wrong = {"id": ["hunter2"], "lines": [{"sku": "a"}, {"sku": 17, "count": 0}]}
    assert faults(of(ORDER), "e", wrong) == {
        "id": "should be string", "lines[1].sku": "should be string", "lines[1].count": "should be at least 1",
    }  # fmt: skip
    assert faults(of(ORDER), "e", {}) == {"id": "is missing", "lines": "is missing"}


def test_b4_the_message_of_the_error_says_the_first_fault() -> None:
    with pytest.raises(ValidationError, match="the event does not fit its schema: id is missing"):
        of(ORDER).validate("e", {})


def test_b4_of_very_many_faults_the_first_hundred_are_told() -> None:
    for held_to in (of(ORDER), schemas({"e": {"model": "user.login"}})):
        found = faults(held_to, "e", {f"f{n}": n for n in range(5_000)})
        assert 90 < len(found) <= 101
        assert found[""] == "there is more that is wrong"


def test_b4_long_and_strange_names_are_told_in_bearable_length() -> None:
    found = faults(of(ORDER), "e", {"id": "1", "lines": [], "x" * 100_000: 1, 'q"\n': 1})
    assert all(len(path) < 300 for path in found)
    assert '["q\\"\\n"]' in found


def test_b5_the_typed_payload_is_what_json_knows_and_the_given_one_is_unchanged() -> None:
    given = {**PAYMENT, "orderId": 2**70, "paidAt": "2026-11-30T08:00:00+08:00", "amount": "12.50"}
    before = repr(given)
    typed = schemas().validate("payment.callback", given)
    assert typed == {
        "eventType": "payment.callback", "orderId": str(2**70), "amount": "12.50", "status": "SUCCESS",
        "paidAt": "2026-11-30T08:00:00+08:00",
    }  # fmt: skip
    assert repr(given) == before


def test_the_field_that_names_the_type_may_stand_in_a_payload_whose_schema_does_not_know_it() -> None:
    payload = {"eventType": "e", "id": "1", "lines": []}
    assert of(ORDER).validate("e", payload) == payload
    assert of({**ORDER, "additionalProperties": False}).validate("e", payload) == payload
    closed = of({"properties": {"eventType": {"const": "other"}}})
    assert faults(closed, "e", {"eventType": "e"}) == {"eventType": "should be other"}


def test_b6_each_schema_is_built_once_for_ten_thousand_events() -> None:
    kinds: dict[str, dict[str, Any]] = {
        "user.login": {"model": "user.login"},
        "ping": {"json_schema": {"type": "object", "properties": {"n": {"type": "integer", "format": "uuid"}}}},
    }
    profile = cProfile.Profile()
    profile.enable()
    held_to = schemas(kinds)
    for number in range(5_000):
        held_to.validate("ping", {"n": number})
        held_to.validate("user.login", LOGIN)
    profile.disable()
    calls = {f"{Path(file).stem}.{name}": count for (file, _, name), (count, *_) in pstats.Stats(profile).stats.items()}  # type: ignore[attr-defined]
    assert calls["registry.validate"] == 10_000
    assert calls["registry._built"] == 2
    assert calls["registry.from_rules"] == calls["strict.prepared"] == calls["formats.checker"] == 1
    assert calls["models.load_models"] == 1
