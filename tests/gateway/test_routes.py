"""Who gets an event: the first route that fits, by type and routing key."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.handed_over import event
from wechat_bridge.errors import DispatchRefused
from wechat_bridge.gateway.routes import route_of
from wechat_bridge.model.event_rules import EventRules, TaskTarget


def rules(*routes: dict[str, str]) -> EventRules:
    """Each route leads to a queue that is named by its number."""
    described: list[dict[str, Any]] = [
        {**route, "target": {"kind": "task", "task": "shop.take", "queue": str(number)}}
        for number, route in enumerate(routes)
    ]
    return EventRules.model_validate({"routes": described})


def chosen(given: EventRules, event_type: str, routing_key: str | None = None) -> str:
    headers = {} if routing_key is None else {"routing-key": routing_key}
    target = route_of(given, event(event_type=event_type, headers=headers))
    assert isinstance(target, TaskTarget)
    return target.queue


BY_TYPE = rules({"type": "payment.callback"}, {"type": "payment.*"}, {"type": "user*"}, {"type": "*"})
BY_KEY = rules(
    {"type": "payment.*", "routing_key": "shop.eu"}, {"routing_key": "shop.us"}, {"type": "payment.callback"}
)


@pytest.mark.parametrize(
    ("event_type", "queue"),
    [
        ("payment.callback", "0"), ("payment.callback.late", "1"), ("payment.", "1"), ("payment", "3"),
        ("user", "2"), ("user.login", "2"), ("users", "2"), ("Payment.callback", "3"), ("xpayment.callback", "3"),
        ("payment_callback", "3"), ("", "3"),
    ],
)  # fmt: skip
def test_f3_the_first_route_that_fits_the_type_is_taken(event_type: str, queue: str) -> None:
    assert chosen(BY_TYPE, event_type) == queue


@pytest.mark.parametrize(
    ("event_type", "routing_key", "queue"),
    [
        ("payment.callback", "shop.eu", "0"), ("payment.callback", "shop.us", "1"), ("user.login", "shop.us", "1"),
        ("payment.callback", "shop.cn", "2"), ("payment.callback", "", "2"), ("payment.callback", None, "2"),
    ],
)  # fmt: skip
def test_f3_a_route_with_a_routing_key_is_for_events_with_that_header_only(
    event_type: str, routing_key: str | None, queue: str
) -> None:
    assert chosen(BY_KEY, event_type, routing_key) == queue


def test_f3_a_general_route_hides_what_stands_behind_it() -> None:
    assert chosen(rules({"type": "*"}, {"type": "payment.callback"}), "payment.callback") == "0"


@pytest.mark.parametrize(("event_type", "routing_key"), [("user.login", "shop.eu"), ("user.login", None)])
def test_f3_an_event_without_a_route_is_refused_naming_its_type_and_key(
    event_type: str, routing_key: str | None
) -> None:
    with pytest.raises(DispatchRefused) as caught:
        chosen(BY_KEY, event_type, routing_key)
    assert repr(event_type) in str(caught.value)
    assert repr(routing_key or "") in str(caught.value)
    assert "events.routes" in str(caught.value)


def test_f3_what_a_sender_chose_is_shown_on_one_short_line() -> None:
    with pytest.raises(DispatchRefused) as caught:
        chosen(rules(), "user.login", "a\nb\x1b[31m" + "x" * 1000)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300
