"""Keys and texts with fields of a payload in them."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wechat_bridge.errors import EventRefused, SettingsError
from wechat_bridge.gateway.templates import (
    MOST_KEY_BYTES,
    KeyMissing,
    check_template,
    check_text,
    exact,
    render,
    render_text,
)

PAYMENT = "dedup:payment:{orderId}:{status}"

anything = st.text(st.characters(exclude_categories=()), min_size=1) | st.text(":%#{}=", min_size=1)


@pytest.mark.parametrize(
    ("template", "payload", "key"),
    [
        (PAYMENT, {"orderId": "A-1", "status": "SUCCESS"}, "dedup:payment:A-1:SUCCESS"),
        ("dedup:{user.id}", {"user": {"id": "张三"}}, "dedup:张三"),
        ("dedup:{id}", {"id": 9223372036854775809}, "dedup:9223372036854775809"),
        ("dedup:{id}", {"id": True}, "dedup:true"),
        ("dedup:{{x}}:{id}", {"id": "1"}, "dedup:{x}:1"),
        ("100%:{id}", {"id": "1"}, "100%25:1"),
        ("dedup:{id}", {"id": "a:b%3A\n\x00"}, "dedup:a%3Ab%253A%0A%00"),
        ("dedup:{id}", {"id": "\ud800"}, "dedup:%ED%A0%80"),
        ("dedup:{id}", {"id": "0017"}, "dedup:0017"),
    ],
)
def test_a_key_has_the_fields_that_its_template_names(template: str, payload: dict[str, Any], key: str) -> None:
    assert render(template, payload) == key


@pytest.mark.parametrize(
    "payload",
    [
        {}, {"orderId": None}, {"orderId": {"id": 1}}, {"orderId": ["A"]}, {"orderId": ""}, {"orderId": float("nan")},
        {"orderId": Decimal("Infinity")}, {"order": "A"},
    ],
)  # fmt: skip
def test_a_field_that_is_not_there_or_no_single_value_is_named(payload: dict[str, Any]) -> None:
    with pytest.raises(KeyMissing, match="field orderId ") as caught:
        render("dedup:{orderId}", payload)
    assert caught.value.path == "orderId"
    assert [path for path, _ in caught.value.errors] == ["orderId"]
    assert isinstance(caught.value, EventRefused)


def test_a_way_through_a_list_or_a_text_leads_nowhere() -> None:
    for user in ([{"id": 1}], "id", 7, None):
        with pytest.raises(KeyMissing, match=r"user\.id"):
            render("dedup:{user.id}", {"user": user})


def test_what_is_wrong_quotes_no_value_of_the_payload() -> None:
    with pytest.raises(KeyMissing) as caught:
        render("dedup:{card}", {"card": ["4111111111111111"]})
    assert "4111" not in f"{caught.value} {caught.value.errors}"


@given(st.lists(anything, min_size=2, max_size=2), st.lists(anything, min_size=2, max_size=2))
def test_two_events_never_have_the_same_key(one: list[str], other: list[str]) -> None:
    keys = [render("dedup:{a}:{b}", {"a": values[0], "b": values[1]}) for values in (one, other)]
    assert (keys[0] == keys[1]) == (one == other)
    assert all(len(key.encode()) <= MOST_KEY_BYTES and key.isprintable() for key in keys)


def test_separators_inside_values_do_not_mix_keys_up() -> None:
    assert render("d:{a}:{b}", {"a": "1:2", "b": "3"}) != render("d:{a}:{b}", {"a": "1", "b": "2:3"})


def test_a_long_key_ends_with_a_hash_of_all_of_it_which_no_value_can_imitate() -> None:
    long = [render("dedup:{id}", {"id": "字" * 1_000 + end}) for end in "ab"]
    assert long[0] != long[1]
    assert long[0].startswith("dedup:字字")
    assert all(len(key.encode()) <= MOST_KEY_BYTES for key in long)
    assert render("dedup:{id}", {"id": long[0].removeprefix("dedup:")}) not in long


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"), (1.0, "1"), (Decimal("1.00"), "1"), (0.1, "0.1"), (Decimal("0.10"), "0.1"), (-0.0, "0"), (-5, "-5"),
        (Decimal("-12.50"), "-12.5"), (10**30, "1" + "0" * 30), (1e300, "1E300"), (10**300, "1E300"), (120, "120"),
        (Decimal("1E-60"), "1E-60"), (Decimal("1E999999"), "1E999999"), (2**63 + 1, "9223372036854775809"),
        (Decimal("0.05"), "0.05"), (False, "false"),
    ],
)  # fmt: skip
def test_equal_numbers_are_written_alike_and_exactly(value: float | Decimal, text: str) -> None:
    assert exact(value) == text


@given(st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | st.floats(allow_nan=False))
def test_a_written_number_is_that_number(value: float | Decimal) -> None:
    if abs(value) != float("inf"):
        assert Decimal(exact(value)) == Decimal(repr(value) if isinstance(value, float) else value)


def test_a_number_of_a_million_digits_takes_no_time() -> None:
    assert len(render("dedup:{id}", {"id": 1 << 3_000_000})) <= MOST_KEY_BYTES


@pytest.mark.parametrize(
    "template",
    ["{", "}", "a{b", "{a}}", "{}", "{ a }", "{a.}", "{.a}", "{a[0]}", "{a}{b}", "{a}-{b}", "{{{a}{b}}}"],
)
def test_a_template_that_can_be_no_key_is_refused_by_name(template: str) -> None:
    with pytest.raises(SettingsError, match="template "):
        check_template(template)
    with pytest.raises(SettingsError):
        render(template, {"a": 1, "b": 2})


@pytest.mark.parametrize("template", ["", "all", "{a}", "x:{a.b}:y{c}z:{d}", "{{}}", "{{{a}}}", "{ns:tag}"])
def test_a_template_that_can_be_a_key_is_taken(template: str) -> None:
    check_template(template)
    with suppress(KeyMissing):
        assert isinstance(render(template, {"a": 1}), str)


def test_a_text_has_its_values_as_they_came() -> None:
    payload = {"amount": Decimal("10.50"), "name": "a:b%", "user": {"ok": True, "n": 3}, "empty": "", "f": 19.9}
    text = "{{{name}}} 付款 {amount}元{user.n}{user.ok}{empty}，{f}"
    assert render_text(text, payload) == "{a:b%} 付款 10.50元3true，19.9"
    check_text(text)


def test_a_text_cannot_be_blown_up_by_a_short_number() -> None:
    assert render_text("{n}", {"n": Decimal("1E+999999")}) == "1E+999999"


def test_a_text_lacks_nothing() -> None:
    with pytest.raises(KeyMissing, match="amount"):
        render_text("{amount}", {"amount": None})
    with pytest.raises(SettingsError):
        check_text("{amount")
