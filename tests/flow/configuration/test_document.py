"""A configuration is read whole or not at all (acceptance G6)."""

from __future__ import annotations

import json

import pytest

from wechat_bridge.errors import SettingsError
from wechat_bridge.flow.configuration.document import MOST_CHARACTERS, read_document, read_value

WHOLE = json.dumps({"settings": {"debounce": {"idle_seconds": 2.5}}, "events": {"routes": []}}, indent=1)


def test_g6_a_half_written_file_is_refused_wherever_it_ends() -> None:
    assert read_document(WHOLE, "c.json")["settings"] == {"debounce": {"idle_seconds": 2.5}}
    for length in range(len(WHOLE)):
        with pytest.raises(SettingsError, match=r"c\.json is not whole JSON: line \d+, column \d+: .*; nothing is"):
            read_document(WHOLE[:length], "c.json")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"settings": {}, "settings": {}}', "settings stands twice"),
        ('{"events": {"wait_ms": 1, "wait_ms": 2}}', "wait_ms stands twice"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"a": -Infinity}', "-Infinity is no number"),
        ('{"a": 1e999}', "1e999 is no number"),
        (f'{{"a": {"9" * 5000}}}', "nothing is changed"),
        ("[" * 200_000, "nested too deeply"),
        ("[]", "should be an object with settings and events"),
        ('"x"', "should be an object"),
        (" " * (MOST_CHARACTERS + 1), "characters"),
    ],
)
def test_g6_what_json_allows_and_a_configuration_does_not_is_refused(text: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        read_document(text, "c.json")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2", 2),
        ("2.5", 2.5),
        ("true", True),
        ("null", None),
        ("抱歉", "抱歉"),
        ('"123"', "123"),
        ('["a"]', ["a"]),
        ("NaN", "NaN"),
        ("{half", "{half"),
        ("", ""),
    ],
)
def test_a_value_in_a_command_is_json_or_a_text(text: str, value: object) -> None:
    assert read_value(text) == value
