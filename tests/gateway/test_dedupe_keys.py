"""What makes two events the same."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wechat_bridge.errors import SettingsError
from wechat_bridge.gateway.dedupe_keys import canonical, check_rule, dedup_key
from wechat_bridge.gateway.templates import MOST_KEY_BYTES, KeyMissing
from wechat_bridge.model.event_rules import DedupeRule

PAYMENT = DedupeRule(by="key", key="dedup:payment:{orderId}:{status}")
ACTION = DedupeRule(by="key", key="dedup:user:{userId}:{action}:{resourceId}")
MESSAGE = DedupeRule(by="message_id")
PRINT = DedupeRule(by="fingerprint", ignore=("timestamp", "meta.sentAt", "items.seen"))

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


def key(rule: DedupeRule, payload: dict[str, Any], event_type: str = "t") -> str:
    found = dedup_key(rule, event_type, payload)
    assert found is not None
    return found


# by template


def test_c1_a_payment_and_a_user_action_are_named_by_their_fields() -> None:
    assert key(PAYMENT, {"orderId": "A1", "status": "SUCCESS"}) == "dedup:payment:A1:SUCCESS"
    action = {"userId": "u1", "action": "like", "resourceId": 7}
    assert key(ACTION, action) == "dedup:user:u1:like:7"


def test_c1_pending_and_success_of_an_order_are_two_events_and_success_twice_is_one() -> None:
    pending, success = ({"orderId": "A1", "status": status} for status in ("PENDING", "SUCCESS"))
    assert key(PAYMENT, pending) != key(PAYMENT, success)
    assert key(PAYMENT, success) == key(PAYMENT, success | {"retry": 2})


def test_c1_a_key_is_ours_whatever_its_template_says() -> None:
    assert key(DedupeRule(by="key", key="poll:lock:{shop}"), {"shop": "a"}) == "dedup:poll:lock:a"
    assert key(DedupeRule(by="key", key="{x}"), {"x": "spill"}) == "dedup:spill"
    long = key(DedupeRule(by="key", key="{x}"), {"x": "y" * MOST_KEY_BYTES})
    assert len(long.encode()) <= MOST_KEY_BYTES


def test_c1_a_key_needs_its_fields() -> None:
    with pytest.raises(KeyMissing, match="status"):
        dedup_key(PAYMENT, "payment.callback", {"orderId": "A1"})


@pytest.mark.parametrize("template", ["dedup:{a", "dedup:{a}{b}", "dedup:all"])
def test_c1_a_key_that_could_mix_events_up_is_refused_in_the_rules(template: str) -> None:
    with pytest.raises(SettingsError):
        check_rule(DedupeRule(by="key", key=template))


def test_c9_the_name_of_what_has_versions_is_checked_as_well() -> None:
    check_rule(DedupeRule(version_field="v", subject="order:{id}"))
    with pytest.raises(SettingsError):
        check_rule(DedupeRule(version_field="v", subject="order:{id"))


# without a key, and by message id


def test_c2_a_type_without_a_rule_has_no_repeats() -> None:
    assert dedup_key(DedupeRule(), "t", {"messageId": "1"}) is None


def test_c2_a_message_is_named_by_its_id() -> None:
    assert key(MESSAGE, {"messageId": "7300000000000000001"}).startswith("msg:id:7300000000000000001:")
    assert key(DedupeRule(by="message_id", id_field="msg.id"), {"msg": {"id": 5}}).startswith("msg:id:5:")
    with pytest.raises(KeyMissing, match="messageId"):
        dedup_key(MESSAGE, "t", {"messageId": ""})


@pytest.mark.parametrize("field", ["channel", "account", "chat", "thread"])
def test_c11_the_same_id_elsewhere_is_another_message(field: str) -> None:
    here = {"messageId": "1", "channel": "c", "account": "a", "chat": "x", "thread": "t"}
    assert key(MESSAGE, here) != key(MESSAGE, here | {field: "other"})
    assert key(MESSAGE, here) != key(MESSAGE, {name: value for name, value in here.items() if name != field})
    assert key(MESSAGE, here) == key(MESSAGE, dict(reversed(here.items())))


def test_c11_places_are_not_mixed_up_by_what_their_names_contain() -> None:
    one = {"messageId": "1", "channel": "c:account=a"}
    assert key(MESSAGE, one) != key(MESSAGE, {"messageId": "1", "channel": "c", "account": "a"})
    assert key(MESSAGE, {"messageId": "1", "chat": "x"}) != key(MESSAGE, {"messageId": "1", "thread": "x"})


def test_c11_a_place_that_is_described_by_an_object_counts_with_all_of_it() -> None:
    one, same, other = ({"messageId": "1", "chat": chat} for chat in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1}))
    assert key(MESSAGE, one) == key(MESSAGE, same) != key(MESSAGE, other)


def test_c11_a_message_under_two_session_aliases_of_one_agent_is_one() -> None:
    message = {"messageId": "1", "channel": "c", "chat": "x"}
    assert key(MESSAGE, message | {"session": "main"}) == key(MESSAGE, message | {"session": "agent:main"})


def test_c11_types_count_their_messages_each_on_its_own() -> None:
    assert key(MESSAGE, {"messageId": "1"}, "a") != key(MESSAGE, {"messageId": "1"}, "b")


def test_c12_the_same_text_twice_is_two_messages() -> None:
    first, second = ({"messageId": number, "text": "ok", "chat": "x"} for number in ("1", "2"))
    assert key(MESSAGE, first) != key(MESSAGE, second)


# by fingerprint


def test_c2_a_fingerprint_is_that_of_the_payload_in_any_order_without_what_changes_by_itself() -> None:
    one = {"a": 1, "b": {"c": [1, 2]}, "timestamp": 1, "meta": {"sentAt": 1, "id": 5}, "items": [{"n": 1, "seen": 1}]}
    two = {"items": [{"seen": 2, "n": 1}], "meta": {"id": 5}, "b": {"c": [1, 2]}, "timestamp": 2, "a": 1}
    assert key(PRINT, one) == key(PRINT, two)
    assert key(PRINT, one).startswith("fingerprint:")
    assert len(key(PRINT, one)) == len("fingerprint:") + 64


@pytest.mark.parametrize(
    "change", [{"a": 2}, {"a": "1"}, {"a": True}, {"b": [2, 1]}, {"c": None}, {"meta": {"sentAt": 1, "id": 6}}]
)
def test_c2_whatever_else_differs_makes_another_event(change: dict[str, Any]) -> None:
    one = {"a": 1, "b": [1, 2], "meta": {"sentAt": 1, "id": 5}}
    assert key(PRINT, one) != key(PRINT, one | change)
    assert key(PRINT, one) != key(PRINT, one, "another type")


def test_c2_numbers_count_exactly() -> None:
    assert key(PRINT, {"id": 2**63 + 1}) != key(PRINT, {"id": 2**63 + 2})
    assert key(PRINT, {"id": Decimal("0.1")}) == key(PRINT, {"id": 0.1})
    assert key(PRINT, {"id": Decimal("0.10000000000000000001")}) != key(PRINT, {"id": 0.1})
    assert key(PRINT, {"id": 1}) == key(PRINT, {"id": 1.0})


def test_c2_anybody_can_work_out_a_fingerprint() -> None:
    payload = {"b": "ü", "a": [1, None, True]}
    written = json.dumps(["t", payload], sort_keys=True, separators=(",", ":"))
    assert key(PRINT, payload) == f"fingerprint:{hashlib.sha256(written.encode()).hexdigest()}"


@given(values)
def test_c2_the_canonical_form_is_json_and_loses_nothing(value: Any) -> None:
    assert json.loads("".join(canonical(value))) == value


def test_c2_depth_is_no_matter() -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = {"n": [deep]}
    assert key(PRINT, {"deep": deep}).startswith("fingerprint:")
    while isinstance(deep, dict):  # Python would take it apart recursively
        deep = deep["n"].pop()


def test_c2_the_payload_stays_as_it_is() -> None:
    payload = {"a": 1, "timestamp": 2, "meta": {"sentAt": 3}}
    key(PRINT, payload)
    assert payload == {"a": 1, "timestamp": 2, "meta": {"sentAt": 3}}


def test_c2_of_two_ignored_paths_on_one_way_the_shorter_counts() -> None:
    for ignore in (("meta", "meta.id"), ("meta.id", "meta")):
        rule = DedupeRule(by="fingerprint", ignore=ignore)
        assert key(rule, {"a": 1, "meta": {"x": 1}}) == key(rule, {"a": 1})
