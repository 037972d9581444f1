"""What is in force is exchanged as a whole, and what is made from it is made once."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from wechat_bridge.live import Built, InForce, Live
from wechat_bridge.model.event_rules import EventRules
from wechat_bridge.settings import DebounceSettings, load_settings


def test_whoever_reads_while_versions_change_never_sees_parts_of_two() -> None:
    base = load_settings()
    live, stop, torn = Live(base), threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            found = live.current()
            if found.version and found.settings.debounce.idle_seconds != found.version != found.rules.wait_ms:
                torn.append(found)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for version in range(1, 300):
        settings = base.model_copy(update={"debounce": DebounceSettings(idle_seconds=version)})
        live.swap(InForce(version, settings, EventRules(wait_ms=version)))
    stop.set()
    for reader in readers:
        reader.join()
    assert torn == []
    assert live.current().version == 299


def test_what_is_made_from_rules_is_made_once_for_each_change_however_many_ask() -> None:
    live, made = Live(load_settings()), []

    def make(rules: EventRules) -> int:
        time.sleep(0.02)  # so that all of them ask while it is made
        made.append(rules.wait_ms)
        return rules.wait_ms

    built = Built(live, make)
    with ThreadPoolExecutor(50) as pool:
        assert set(pool.map(lambda _: built.get(), range(500))) == {1000}
        live.swap(InForce(1, live.current().settings, EventRules(wait_ms=5)))
        assert set(pool.map(lambda _: built.get(), range(500))) == {5}
        live.swap(InForce(2, live.current().settings, EventRules(wait_ms=5)))
        assert set(pool.map(lambda _: built.get(), range(500))) == {5}
    assert made == [1000, 5]


def test_what_cannot_be_made_is_tried_again() -> None:
    live = Live(load_settings())
    tries: list[int] = []

    def make(_: EventRules) -> int:
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("no")
        return 7

    built = Built(live, make)
    with pytest.raises(ValueError, match="no"):
        built.get()
    assert built.get() == 7
