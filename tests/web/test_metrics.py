"""``/metrics`` as Prometheus reads it."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support import healthy
from tests.support.system import wait_until
from tests.web.conftest import WebProcess
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.access import AccessRules, Policy
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.store import redis_keys
from wechat_bridge.wiring import Wired

Samples = dict[tuple[str, ...], float]


@pytest.fixture
def bridge(web: WebProcess, wired: Wired) -> Bridge:
    """A ledger with one of everything, and a scrape that has seen it."""
    bridge = healthy.empty(wired)
    healthy.announce_all(bridge, slots=10)
    healthy.add_channel(bridge, "fine", polled_seconds_ago=20)
    healthy.add_channel(bridge, "gone", status="error", status_reason="login_needed")
    healthy.add_channel(bridge, "off", enabled=False)
    healthy.add_channel(bridge, "pairs", access=AccessRules(policy=Policy.PAIRING))
    soon = bridge.clock.after(60)
    bridge.access.note_code("pairs", soon)
    bridge.access.decide("pairs", "ann", bridge.clock.now(), code="ABCDEFGH", code_until=soon)
    bridge.access.decide("pairs", "bob", bridge.clock.now(), code="", code_until=None)
    healthy.open_turn(bridge, due_seconds_ago=30)
    healthy.open_turn(bridge, state="parked", ring_at=None, park_reason="send_budget")
    healthy.open_turn(bridge, state="sent", open=False, ring_at=None)
    then = bridge.clock.after(-100)
    values = {"share_id": "fine", "chat_id": "c", "stage": "reply", "error_class": "", "error": "", "trace_id": ""}
    letter = DeadLetter(id="t", traceback="", attempts=4, original=[], first_failure_at=then, last_failure_at=then,
                        **values)  # fmt: skip
    bridge.dead_letters.record(letter)
    wired.redis.rpush(redis_keys.queue("reply"), "doorbell", "doorbell")
    bridge.spill.put("fine", [])
    wait_until(lambda: samples(web).get(("wechat_bridge_spilled_channels",)) == 1, 5, "a scrape shows what is new")
    return bridge


def samples(web: WebProcess) -> Samples:
    """Return every sample of a scrape by its name and the values of its labels."""
    families = text_string_to_metric_families(web.get("/metrics").text)
    return {(sample.name, *sample.labels.values()): sample.value for family in families for sample in family.samples}


def test_a_scrape_is_in_the_text_format(web: WebProcess) -> None:
    answer = web.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"


def test_gauges_say_what_the_ledger_says(web: WebProcess, bridge: Bridge) -> None:
    found = samples(web)
    expected = {
        ("ledger_up",): 1, ("broker_up",): 1,
        ("workers", "poll"): 1, ("workers", "beat"): 1, ("worker_slots", "reply"): 10,
        ("channels", "online"): 2, ("channels", "login_needed"): 1, ("channels", "disabled"): 1,
        ("channels", "failures"): 0,
        ("open_turns", "queued"): 1, ("open_turns", "parked"): 1, ("open_turns", "sent"): 0,
        ("queue_length", "reply"): 2, ("queue_length", "poll"): 0,
        ("pairing_codes_waiting", "pairs"): 1,
        ("dead_letters",): 1, ("waiting_messages",): 0, ("spilled_channels",): 1,
    }  # fmt: skip
    assert {key: found[(f"wechat_bridge_{key[0]}", *key[1:])] for key in expected} == expected


def test_ages_are_in_seconds(web: WebProcess, bridge: Bridge) -> None:
    found = samples(web)
    assert 20 <= found["wechat_bridge_oldest_poll_age_seconds",] < 30
    assert 30 <= found["wechat_bridge_oldest_due_turn_age_seconds",] < 40
    assert 100 <= found["wechat_bridge_oldest_dead_letter_age_seconds",] < 110


def test_the_counters_of_the_process_are_there_too(web: WebProcess) -> None:
    found = samples(web)
    assert found["process_resident_memory_bytes",] > 0
    assert found["wechat_bridge_log_lines_dropped_total",] == 0


def test_no_label_names_a_person_nor_a_channel_that_nobody_need_look_at(web: WebProcess, bridge: Bridge) -> None:
    before = set(samples(web))
    for number in range(20):
        healthy.add_channel(bridge, f"name-of-a-channel-{number}")
        healthy.open_turn(bridge)
    wait_until(lambda: samples(web)["wechat_bridge_channels", "online"] == 22, 5, "the new channels are seen")
    assert set(samples(web)) == before
    assert "name-of-a-channel" not in web.get("/metrics").text
