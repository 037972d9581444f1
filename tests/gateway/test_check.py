"""Faults of rules are found before they are in force, all at once (acceptance G6)."""

from __future__ import annotations

import pytest

from wechat_bridge.errors import SettingsError
from wechat_bridge.gateway.check import check
from wechat_bridge.model.event_rules import EventRules

GOOD = {"schema": {"model": "user.login"}, "dedupe": {"by": "key", "key": "dedup:login:{userId}"}}
TARGET = {"kind": "conversation", "share_id": "shop", "user": "{openid}", "text": "已付款 {amount} 元"}


def test_rules_that_can_be_used_are_left_alone() -> None:
    check(EventRules())
    check(EventRules.model_validate({"types": {"user.login": GOOD}, "routes": [{"target": TARGET}]}))


def test_g6_every_fault_is_told_by_its_place() -> None:
    rules = EventRules.model_validate(
        {
            "types": {
                "a.b": GOOD | {"dedupe": {"by": "key", "key": "dedup:all"}, "debounce": {"key": "{", "wait_ms": 5}},
                "c": {"schema": {"json_schema": {"type": "nonsense"}}},
            },
            "routes": [{"type": "x", "target": TARGET}, {"target": TARGET | {"user": "{a b}", "text": "}"}}],
        }
    )
    with pytest.raises(SettingsError) as caught:
        check(rules)
    lines = str(caught.value).splitlines()
    places = ("types.a.b.dedupe: key", "types.a.b.debounce.key: ", "routes.1.target.user: ", "routes.1.target.text: ")
    assert [place for place in places if not any(line.startswith(place) for line in lines)] == []
    assert [line for line in lines if line.startswith("types.c.schema")]
    assert len(lines) == 5
