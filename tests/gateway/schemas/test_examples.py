"""The two models that ship hold events to what their names promise."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.schemas.events import LOGIN, PAYMENT, faults, schemas


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("userId", "not-a-uuid"), ("userId", 7), ("userId", ""), ("userId", None), ("userId", LOGIN["userId"] + "0"),
        ("ip", "256.1.1.1"), ("ip", "1.2.3"), ("ip", "::g"), ("ip", 3232235521), ("ip", ""), ("ip", "192.0.2.7/24"),
        ("timestamp", "yesterday"), ("timestamp", "2026-11-30T08:00:00"), ("timestamp", "2026-02-30T08:00:00Z"),
        ("timestamp", 1e308), ("timestamp", 1), ("timestamp", True), ("success", "yes"), ("success", 1),
        ("eventType", "user.logout"), ("deviceId", True), ("deviceId", ""), ("messageId", "x" * 129),
    ],
)  # fmt: skip
def test_b7_a_login_with_a_wrong_field_is_refused(field: str, value: Any) -> None:
    assert list(faults(schemas(), "user.login", {**LOGIN, field: value})) == [field]


@pytest.mark.parametrize("field", ["userId", "ip", "timestamp"])
def test_b7_a_login_without_a_field_is_refused(field: str) -> None:
    without = {name: value for name, value in LOGIN.items() if name != field}
    assert faults(schemas(), "user.login", without) == {field: "is missing"}


def test_b7_a_login_as_it_should_be_is_typed() -> None:
    given = {**LOGIN, "userId": LOGIN["userId"].upper(), "ip": "2001:DB8::7", "deviceId": 2**64, "success": False}
    assert schemas().validate("user.login", given) == {
        **LOGIN, "ip": "2001:db8::7", "deviceId": str(2**64), "success": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("amount", 0), ("amount", -1), ("amount", -0.01), ("amount", "0.00"), ("amount", "-5"), ("amount", ""),
        ("amount", "1_000"), ("amount", "１２"), ("amount", "NaN"), ("amount", "Infinity"), ("amount", "1e3"),
        ("amount", True), ("amount", None), ("amount", []), ("amount", 1e300), ("amount", 1e-9), ("amount", "01.00"),
        ("amount", "1" * 19), ("amount", "1.123456789"), ("amount", " 1"), ("amount", 10**900),
        ("status", "success"), ("status", "REFUNDED"), ("status", ""), ("status", None), ("status", 1),
        ("status", ["SUCCESS"]), ("orderId", ""), ("orderId", None), ("orderId", 1.5), ("orderId", {"$ne": 1}),
        ("orderId", "x" * 129), ("orderId", True), ("currency", "cny"), ("currency", "RMB2"), ("paidAt", "now"),
    ],
)  # fmt: skip
def test_b7_a_payment_with_a_wrong_field_is_refused(field: str, value: Any) -> None:
    assert list(faults(schemas(), "payment.callback", {**PAYMENT, field: value})) == [field]


@pytest.mark.parametrize(
    ("amount", "typed"),
    [
        (12.5, "12.5"), ("12.50", "12.50"), (1, "1"), (0.1, "0.1"), ("0.00000001", "0.00000001"), (0.29, "0.29"),
        ("123456789012345678.12345678", "123456789012345678.12345678"), (99999999999.99, "99999999999.99"),
    ],
)  # fmt: skip
def test_b7_an_amount_stays_exact(amount: Any, typed: str) -> None:
    assert schemas().validate("payment.callback", {**PAYMENT, "amount": amount})["amount"] == typed


@pytest.mark.parametrize("status", ["SUCCESS", "FAILED", "PENDING"])
def test_b7_a_payment_as_it_should_be_is_taken_and_an_id_keeps_its_zeros(status: str) -> None:
    typed = schemas().validate("payment.callback", {**PAYMENT, "status": status})
    assert typed == {**PAYMENT, "status": status, "amount": "12.5"}
    assert typed["orderId"] == "007"
