"""Media go after a week, bytes and all; what unfinished work refers to stays."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support import healthy
from tests.support.pictures import png
from tests.support.variations import failing
from tests.support.world import World
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.flow.retention import Retention
from wechat_bridge.model import keys
from wechat_bridge.model.media import Media, MediaState
from wechat_bridge.model.message import ItemKind
from wechat_bridge.model.turn import TurnState


def picture(world: World, days: float, turn_id: str = "gone", **fields: object) -> Media:
    """A stored picture of so many days ago."""
    at = world.bridge.clock.now() - timedelta(days=days)
    media = Media(
        id=f"in:{keys.new_token()}:0", turn_id=turn_id, file_id=keys.new_file_name(), kind=ItemKind.IMAGE, at=at
    )
    return world.bridge.media.put(media.model_copy(update=fields), png())


def left(world: World) -> set[str]:
    """Let retention look after everything; return the ids of what is left."""
    retention = Retention()
    while retention.go_on(world.bridge):
        pass
    media = world.bridge.media.collection
    assert world.bridge.media.collection.database["media.chunks"].count_documents({}) == media.count_documents({})
    return {row["_id"] for row in media.find()}


@pytest.fixture(autouse=True)
def _nothing_old(world: World) -> None:
    for store in (world.bridge.media, world.bridge.turns, world.bridge.inbox, world.bridge.dead_letters):
        store.collection.delete_many({})
    world.bridge.media.collection.database["media.chunks"].delete_many({})


def test_media_go_after_a_week_and_not_before(world: World) -> None:
    picture(world, 7.1)
    picture(world, 300)
    young = picture(world, 6.9)
    assert left(world) == {young.id}


def test_what_was_left_half_written_goes_too(world: World) -> None:
    broken = picture(world, 8)
    world.bridge.media.note(broken.model_copy(update={"state": MediaState.RECEIVING}))
    assert left(world) == set()


def test_media_of_an_open_turn_or_a_waiting_dead_letter_stay_until_it_has_ended(world: World) -> None:
    bridge = world.bridge
    turn = healthy.open_turn(bridge, state=TurnState.QUEUED, ring_at=None)
    kept = {picture(world, 30, turn.id).id, picture(world, 30, turn.id).id}
    picture(world, 30)
    assert left(world) == kept
    bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"open": False, "times.closed": bridge.clock.now()}})
    assert left(world) == set()


def test_bytes_that_could_not_be_removed_are_found_again(world: World) -> None:
    picture(world, 8)
    broken = failing(world, "media", "remove", LedgerUnavailable("away"))
    with pytest.raises(LedgerUnavailable):
        left(broken)
    assert left(world) == set()
