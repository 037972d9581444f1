"""Dead letters that pile up or wait too long are an alert, once, until they are looked at (acceptance F9)."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from tests.support import healthy
from tests.support.variations import using
from tests.support.world import World
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.dead_letters import letter_watch
from wechat_bridge.flow.dead_letters.letter_watch import LetterWatch


@pytest.fixture
def limited(world: World, monkeypatch: pytest.MonkeyPatch) -> Bridge:
    """A bridge without dead letters, for which three are a pile; every look counts."""
    monkeypatch.setattr(letter_watch, "EVERY_SECONDS", 0.0)
    healthy.empty(world.wired)
    settings = world.bridge.settings
    limits = settings.dead_letters.model_copy(update={"most_waiting": 2, "most_hours": 24.0})
    return using(world, settings=settings.model_copy(update={"dead_letters": limits})).bridge


def look(watch: LetterWatch, bridge: Bridge) -> list[tuple[str, str, str]]:
    """What a look raises and clears."""
    with capture_logs() as lines:
        watch.look(bridge)
    return [(line["event"], line["cause"], line["subject"]) for line in lines]


def test_f9_a_pile_is_told_once_for_its_channel_and_cleared_when_it_is_gone(limited: Bridge) -> None:
    watch, now = LetterWatch(), limited.clock.now()
    for number in range(2):
        limited.dead_letters.record(healthy.letter(f"pile-{number}", "busy", now))
    limited.dead_letters.record(healthy.letter("other", "calm", now))
    assert look(watch, limited) == []
    limited.dead_letters.record(healthy.letter("pile-2", "busy", now))
    assert look(watch, limited) == [("alert_raised", "dead_letters_pile_up", "busy")]
    assert look(watch, limited) == []
    limited.dead_letters.mark_discarded("pile-0", "ann", now)
    assert look(watch, limited) == [("alert_cleared", "dead_letters_pile_up", "busy")]


def test_f9_one_that_waits_too_long_is_told_with_since_when_and_what_to_do(limited: Bridge) -> None:
    watch = LetterWatch()
    limited.dead_letters.record(healthy.letter("old", "slow", limited.clock.after(-25 * 3600)))
    with capture_logs() as lines:
        watch.look(limited)
    assert [(line["event"], line["cause"]) for line in lines] == [("alert_raised", "dead_letter_waits_long")]
    assert "waits since" in lines[0]["advice"]
    assert "wechat-bridge dead list" in lines[0]["advice"]
    limited.dead_letters.mark_replayed("old", "ann", limited.clock.now())
    assert look(watch, limited) == [("alert_cleared", "dead_letter_waits_long", "slow")]


def test_f9_events_that_were_given_up_pile_up_by_their_stage(limited: Bridge) -> None:
    now = limited.clock.now()
    for number in range(3):
        letter = healthy.letter(f"evt-{number}", "", now).model_copy(update={"stage": "dispatch"})
        limited.dead_letters.record(letter)
    assert look(LetterWatch(), limited) == [("alert_raised", "dead_letters_pile_up", "dispatch")]
    assert list(limited.dead_letters.waiting()) == ["dispatch"]


def test_the_ledger_is_asked_once_a_minute(world: World) -> None:
    healthy.empty(world.wired)
    watch, bridge = LetterWatch(), world.bridge
    assert look(watch, bridge) == []
    bridge.dead_letters.record(healthy.letter("old", "slow", bridge.clock.after(-25 * 3600)))
    assert look(watch, bridge) == []
