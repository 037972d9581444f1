"""A configuration is judged: what it makes of the environment's settings, and all that is wrong with it at once."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from wechat_bridge.errors import SettingsError
from wechat_bridge.flow.configuration.check import Judge
from wechat_bridge.flow.configuration.sections import AT_START
from wechat_bridge.live import InForce
from wechat_bridge.model.event_rules import EventRules
from wechat_bridge.settings import Settings, load_settings

DEEPSEEK = {"kind": "openai", "model": "deepseek-v3", "api_key": "sk-of-the-environment", "history_turns": 3}
QWEN = {"kind": "openai", "model": "qwen", "api_key": "sk-qwen"}


def base(**values: Any) -> Settings:
    return load_settings(**{"engines": {"deepseek": DEEPSEEK, "qwen": QWEN}, **values})


def judged(settings: Any = None, events: Any = None, **values: Any) -> InForce:
    given = {name: part for name, part in (("settings", settings), ("events", events)) if part is not None}
    return Judge(base(**values)).in_force(given, 7)


def faults(settings: Any = None, events: Any = None) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        judged(settings, events)
    return str(caught.value).splitlines()


def test_an_empty_document_is_the_environment() -> None:
    found = judged()
    assert (found.version, found.settings, found.rules) == (7, base(), EventRules())


def test_of_a_section_the_fields_that_are_named_change_and_no_others() -> None:
    found = judged({"debounce": {"idle_seconds": 2}}, debounce={"most_windows": 9}).settings
    assert (found.debounce.idle_seconds, found.debounce.most_windows) == (2.0, 9)
    assert found.reply == base().reply


def test_of_an_engine_the_fields_that_are_named_change_its_key_stays() -> None:
    engines = judged({"engines": {"deepseek": {"model": "deepseek-v4"}}}).settings.engines
    assert engines["deepseek"].model_dump() == base().engines["deepseek"].model_dump() | {"model": "deepseek-v4"}
    assert engines["qwen"] == base().engines["qwen"]


def test_an_engine_of_another_kind_is_another_engine() -> None:
    engines = judged({"engines": {"deepseek": {"kind": "dify", "api_key": "app-1"}}}).settings.engines
    assert engines["deepseek"].kind == "dify"
    assert engines["deepseek"].api_key == SecretStr("app-1")


def test_an_engine_is_added_and_one_of_the_environment_taken_away() -> None:
    engines = judged({"engines": {"own": {"kind": "task", "task": "t", "queue": "q"}, "qwen": None}}).settings.engines
    assert set(engines) == {"deepseek", "own"}


def test_g6_all_faults_are_told_at_once_each_by_its_place() -> None:
    found = faults(
        {
            "debounce": {"idle_seconds": -1, "idle_second": 2},
            "engines": {"deepseek": {"api_key": ""}, "new": {"kind": "openai"}, "NO": {"kind": "task"}, "odd": {}},
            "poll": {"total_deadline_seconds": 5},
            "redis_url": "redis://elsewhere",
            "channel_concurrency": 5,
            "owner": {},
            "nonsense": {},
            "reply": 5,
        },
        {
            "types": {"a.b": {"schema": {"model": "x"}, "dedupe": {"by": "key"}}, "c": {}},
            "routes": [{"target": {"kind": "http", "url": "ftp://x"}}],
            "wait": 3,
        },
    )
    assert [line for line in found if line.startswith("settings.debounce.idle_seconds: ")]
    assert "idle_second: there is no such setting; there are idle_seconds, most_windows" in "\n".join(found)
    assert "settings.engines.new.model: Field required" in found
    assert [line for line in found if line.startswith("settings.engines.odd: ")]
    assert [line for line in found if line.startswith("settings.engines.NO: ")]
    assert [line for line in found if line.startswith("settings.poll.total_deadline_seconds: counts when a process st")]
    assert "set the environment variable REDIS_URL" in "\n".join(found)
    assert "set the environment variable WECHAT_CHANNEL_CONCURRENCY" in "\n".join(found)
    assert "set the environment variable WECHAT_BRIDGE_OWNER__" in "\n".join(found)
    assert "settings.reply: should be an object" in found
    assert [line for line in found if line.startswith("settings.nonsense: there is no such section; there are deb")]
    assert [line for line in found if line.startswith('events.types."a.b".dedupe: key should be given')]
    assert "events.types.c.schema: Field required" in found
    assert [line for line in found if line.startswith("events.routes.0.target.url: ")]
    assert [line for line in found if line.startswith("events.wait: ")]


def test_no_fault_quotes_a_value() -> None:
    secret = "sk-do-not-say-this"
    found = faults(
        {"engines": {"deepseek": {"api_key": [secret]}, "hook": {"kind": "webhook", "url": secret, "secret": secret}}},
        {"routes": [{"target": {"kind": "http", "url": secret, "secret": {"x": secret}}}]},
    )
    assert len(found) == 4
    assert secret not in "\n".join(found)


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("debounce", "idle_seconds", 1e300),
        ("debounce", "idle_seconds", "inf"),
        ("inbox", "memory_days", 10**9),
        ("dead_letters", "most_hours", 1e12),
        ("reply", "sends_per_message", 10**30),
        ("sweep", "ceiling", 10**12),
    ],
)
def test_a_number_beyond_any_calendar_is_refused_since_it_would_stop_every_process(
    section: str, field: str, value: object
) -> None:
    (line,) = faults({section: {field: value}})
    assert line.startswith(f"settings.{section}.{field}: should be at most ")


def test_the_longest_wait_is_bounded_too() -> None:
    (line,) = faults({"debounce": {"idle_seconds": 1e6, "most_windows": 10**5}})
    assert "idle_seconds times most_windows" in line


@pytest.mark.parametrize("document", [{"setting": {}}, {"settings": []}, {"events": 3}, {"": {}}])
def test_other_parts_than_the_two_are_refused(document: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=r"there are settings and events|should be an object"):
        Judge(base()).in_force(document, 1)


def test_half_a_character_is_refused() -> None:
    with pytest.raises(SettingsError, match="characters that are none"):
        judged({"reply": {"apology": "\ud83d"}})


def test_who_else_looks_at_rules_is_heard_line_by_line() -> None:
    def check(rules: EventRules) -> None:
        if rules.wait_ms == 5:
            raise SettingsError("types.a.schema: no\nan entry point: neither")

    judge = Judge(base(), [check])
    assert judge.in_force({"events": {"wait_ms": 6}}, 1).rules.wait_ms == 6
    with pytest.raises(SettingsError) as caught:
        judge.in_force({"events": {"wait_ms": 5}, "settings": {"x": {}}}, 1)
    assert [line.partition(":")[0] for line in str(caught.value).splitlines()] == [
        "settings.x", "events.types.a.schema", "events"
    ]  # fmt: skip


def test_every_section_that_may_change_knows_its_fields() -> None:
    for name, fixed in AT_START.items():
        section = getattr(base(), name)
        assert isinstance(section, BaseModel)
        assert fixed < set(type(section).model_fields), f"{name}: nothing of it may change"
