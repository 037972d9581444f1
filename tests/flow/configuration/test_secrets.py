"""Secrets of a configuration: found, masked, and kept where a masked document comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wechat_bridge.errors import SettingsError
from wechat_bridge.flow.configuration.check import Judge
from wechat_bridge.flow.configuration.secrets import secret_places, shown, with_kept_secrets
from wechat_bridge.model.configuration import Document, Path, find, with_value
from wechat_bridge.settings import load_settings

ENGINE = {"kind": "openai", "model": "m", "api_key": "k1-plain", "extra": {"password": "k2-plain", "top_p": 1}}


def route(number: int) -> dict[str, Any]:
    target = {"kind": "http", "url": f"http://one/{number}", "secret": f"s{number}-plain"}
    return {"type": f"t{number}", "target": target}


QUEUE = {"kind": "queue", "url": "redis://u:k4-plain@h/0", "routing_key": "r"}
DOCUMENT: Document = {
    "settings": {
        "engines": {"a": ENGINE, "open": {"kind": "openai", "model": "m", "api_key": ""}},
        "reply": {"apology": "ring 123, password: k3-plain"},
    },
    "events": {
        "types": {"t1": {"schema": {"json_schema": {"properties": {"token": {"type": "string"}}}}}},
        "routes": [route(1), route(2), {"target": QUEUE}],
        "consume": [{"queue": "q", "url": "amqp://k5-plain"}],
    },
}  # fmt: skip


def places(document: Document) -> tuple[Path, ...]:
    return secret_places(document, Judge(load_settings()).in_force(document, 1))


def test_secrets_are_found_by_kind_by_name_and_by_look_and_nothing_else_is_masked() -> None:
    found = places(DOCUMENT)
    assert set(found) == {
        ("settings", "engines", "a", "api_key"),
        ("settings", "engines", "a", "extra", "password"),
        ("settings", "reply", "apology"),
        ("events", "routes", 0, "target", "secret"),
        ("events", "routes", 1, "target", "secret"),
        ("events", "routes", 2, "target", "url"),
        ("events", "consume", 0, "url"),
    }
    assert "-plain" not in json.dumps(shown(DOCUMENT, found))
    assert shown(DOCUMENT, found)["events"]["types"] == DOCUMENT["events"]["types"]


def test_what_is_shown_can_be_given_back_as_it_is() -> None:
    found = places(DOCUMENT)
    assert with_kept_secrets(shown(DOCUMENT, found), DOCUMENT, found) == DOCUMENT


def test_an_engine_keeps_its_key_while_the_rest_of_it_changes() -> None:
    found = places(DOCUMENT)
    edited = with_value(shown(DOCUMENT, found), ("settings", "engines", "a", "model"), "m2")
    assert find(with_kept_secrets(edited, DOCUMENT, found), ("settings", "engines", "a", "api_key")) == "k1-plain"


def test_a_secret_follows_its_item_of_a_list_and_goes_to_no_other() -> None:
    found = places(DOCUMENT)
    edited = shown(DOCUMENT, found)
    moved = with_value(edited, ("events", "routes"), edited["events"]["routes"][1:])
    assert with_kept_secrets(moved, DOCUMENT, found)["events"]["routes"] == DOCUMENT["events"]["routes"][1:]
    elsewhere = with_value(edited, ("events", "routes", 0, "target", "url"), "http://attacker/")
    with pytest.raises(SettingsError, match=r"^events\.routes\.0\.target\.secret: \*\*\* stands for a secret that"):
        with_kept_secrets(elsewhere, DOCUMENT, found)


def test_a_mask_where_no_secret_was_stands_for_nothing() -> None:
    with pytest.raises(SettingsError) as caught:
        with_kept_secrets({"settings": {"engines": {"b": {"api_key": "***"}, "c": {"api_key": "***"}}}}, {}, ())
    assert len(str(caught.value).splitlines()) == 2
