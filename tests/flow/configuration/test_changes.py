"""An operator changes the configuration (acceptance G6): versions, faults, conflicts, history and rollback."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from tests.flow.configuration.fixtures import IDLE, Place, idle
from wechat_bridge.errors import ConfigurationRefused, NotConfigured, SettingsError
from wechat_bridge.flow.configuration.changes import Published
from wechat_bridge.wiring import Wired

ENGINE = {"kind": "openai", "model": "m", "api_key": "sk-never-shown-1"}


@pytest.fixture
def place(wired: Wired) -> Place:
    return Place.empty(wired)


def places_of(published: Published) -> list[tuple[str, Any, Any]]:
    return [(each.place, each.old, each.new) for each in published.changes]


def test_g6_every_change_is_a_version_that_says_what_who_and_when(place: Place) -> None:
    changes = place.changes
    assert changes.show().number == 0
    first = changes.apply(idle(2), "ann", "slower")
    second = changes.set(IDLE, 3, "bob")
    assert (first.number, places_of(first)) == (1, [(IDLE, None, 2)])
    assert (second.number, places_of(second)) == (2, [(IDLE, 2, 3)])
    newest = changes.show()
    assert (newest.number, newest.by, newest.note, newest.document) == (2, "bob", f"set {IDLE}", idle(3))
    assert newest.at is not None
    assert (changes.show(1).by, changes.show(1).note, changes.show(1).document) == ("ann", "slower", idle(2))
    assert [(each.number, each.changes) for each in changes.history(10)] == [(2, (IDLE,)), (1, (IDLE,))]
    assert [each.number for each in changes.history(1)] == [2]


def test_g6_an_invalid_change_is_refused_with_the_reason_and_the_last_version_stays(place: Place) -> None:
    changes = place.changes
    changes.apply(idle(2), "ann")
    with pytest.raises(SettingsError, match=rf"^{IDLE}: "):
        changes.apply(idle(-1), "ann")
    with pytest.raises(SettingsError, match=rf"^{IDLE}: "):
        changes.set(IDLE, "soon", "ann")
    with pytest.raises(SettingsError, match=r"^settings\.debounce\.idle: there is no such setting"):
        changes.set("settings.debounce.idle", 1, "ann")
    assert (changes.show().number, changes.show().document) == (1, idle(2))


def test_the_same_again_is_no_new_version(place: Place) -> None:
    changes = place.changes
    changes.apply(idle(2), "ann")
    assert changes.apply(idle(2), "bob") == Published(1, ())
    assert changes.show().by == "ann"


def test_who_decided_upon_an_older_version_is_told(place: Place) -> None:
    changes = place.changes
    changes.apply(idle(2), "ann")
    with pytest.raises(ConfigurationRefused, match="the newest version is 1, not 0"):
        changes.apply(idle(3), "bob", based_on=0)
    assert changes.apply(idle(3), "bob", based_on=1).number == 2


def test_of_two_at_once_one_wins_and_the_other_is_told(place: Place) -> None:
    changes, barrier = place.changes, threading.Barrier(8)
    won, told = [], []

    def act(number: int) -> None:
        barrier.wait()
        try:
            won.append(changes.apply(idle(number), str(number), based_on=0))
        except ConfigurationRefused as error:
            told.append(str(error))

    threads = [threading.Thread(target=act, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(told)) == (1, 7)
    assert all("look at it, and decide anew" in each for each in told)
    assert changes.show().number == 1


def test_a_rollback_is_a_new_version_with_the_old_content_secrets_included(place: Place) -> None:
    changes = place.changes
    changes.apply({"settings": {"engines": {"a": ENGINE}}}, "ann")
    changes.apply(idle(2), "ann")
    assert changes.roll_back(1, "bob").number == 3
    assert (changes.show().note, changes.show().document) == ("back to version 1", changes.show(1).document)
    stored = place.store.get(3)
    assert stored is not None
    assert place.store.open(stored)["settings"]["engines"]["a"] == ENGINE
    assert changes.roll_back(0, "bob").number == 4
    assert changes.show().document == {}
    with pytest.raises(ConfigurationRefused, match="there is no version 9"):
        changes.roll_back(9, "bob")


def test_what_is_unset_is_the_environments_again(place: Place) -> None:
    changes = place.changes
    changes.apply(idle(2), "ann")
    assert changes.in_force()["settings"]["debounce"]["idle_seconds"] == 2
    changes.unset(IDLE, "ann")
    assert changes.in_force()["settings"]["debounce"]["idle_seconds"] == 1
    assert changes.show().document == {}
    with pytest.raises(ConfigurationRefused, match="says nothing there"):
        changes.unset(IDLE, "ann")


def test_a_place_that_cannot_be_is_refused(place: Place) -> None:
    for written in ("", "a..b"):
        with pytest.raises(ConfigurationRefused, match=r"as in settings\.debounce\.idle_seconds"):
            place.changes.set(written, 1, "ann")
    with pytest.raises(SettingsError):
        place.changes.set("events.routes.0.type", "a", "ann")


def test_secrets_are_masked_wherever_they_are_told(place: Place) -> None:
    changes = place.changes
    published = [
        changes.apply({"settings": {"engines": {"a": ENGINE}}}, "ann"),
        changes.set("settings.engines.a.api_key", "sk-never-shown-2", "ann"),
        changes.set("settings.engines.a.model", "m2", "ann"),
        changes.apply({"settings": {"engines": {"a": ENGINE | {"api_key": "***", "model": "m3"}}}}, "ann"),
    ]
    told = repr([published, changes.show(), changes.history(9)]) + json.dumps(changes.in_force())
    assert "never-shown" not in told
    assert places_of(published[1]) == [("settings.engines.a.api_key", "***", "***")]
    stored = place.store.get(4)
    assert stored is not None
    assert place.store.open(stored)["settings"]["engines"]["a"]["api_key"] == "sk-never-shown-2"


def test_a_version_that_cannot_be_read_is_shown_as_that_and_can_be_replaced(place: Place) -> None:
    place.changes.apply(idle(2), "ann")
    place.changes.apply({"settings": {"engines": {"a": ENGINE}}}, "ann")
    place.spoil(1, text="{")
    assert "version 1 of the configuration cannot be read" in place.changes.show(1).problem
    assert [bool(each.problem) for each in place.changes.history(9)] == [False, True]
    place.spoil(2, format=2)
    assert "upgrade" in place.changes.show().problem
    assert place.changes.apply(idle(3), "ann").number == 3


def test_with_another_key_a_whole_document_can_still_be_put_in_its_place(place: Place) -> None:
    place.changes.apply({"settings": {"engines": {"a": ENGINE}}}, "ann")
    other = Place(place.wired, key="GO1hGuAvXSKOYbBTFNBMqI_8Wr3lnFnJb93BTBTdA0E=")
    assert other.changes.show().document == {"settings": {"engines": {"a": ENGINE | {"api_key": "***"}}}}
    with pytest.raises(NotConfigured, match="none of the keys opens"):
        other.changes.set(IDLE, 2, "ann")
    assert other.changes.apply(idle(2), "ann").number == 2
