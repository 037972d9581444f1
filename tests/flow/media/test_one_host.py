"""A folder for media is refused where more than one host is at work."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.variations import process, setting
from tests.support.world import World
from wechat_bridge.errors import SettingsError
from wechat_bridge.flow.media.one_host import check_one_host
from wechat_bridge.model.worker import Worker


def announce(world: World, owner: str, *, on_disk: bool = False, ago_seconds: float = 0.0) -> None:
    seen_at = world.bridge.clock.now() - timedelta(seconds=ago_seconds)
    world.bridge.workers.announce(
        Worker(id=owner, kind="worker", seen_at=seen_at, started_at=seen_at, version="0", media_on_disk=on_disk)
    )


def start(world: World, folder: Path | None) -> None:
    """Check as a process on ``here`` would that starts now."""
    check_one_host(setting(process(world, "here:2:new"), "media", folder=folder).bridge)


@pytest.fixture
def alone(world: World) -> World:
    world.bridge.workers.collection.delete_many({})
    return world


def test_one_host_may_keep_media_in_a_folder(alone: World, tmp_path: Path) -> None:
    announce(alone, "here:1:old", on_disk=True)
    start(alone, tmp_path)
    assert len(alone.bridge.workers.all()) == 1


def test_many_hosts_may_keep_media_in_the_ledger(alone: World) -> None:
    announce(alone, "there:1:other")
    start(alone, None)
    assert len(alone.bridge.workers.all()) == 1


@pytest.mark.parametrize(("theirs", "ours"), [(False, True), (True, True), (True, False)])
def test_a_second_host_is_refused_by_name(alone: World, tmp_path: Path, theirs: bool, ours: bool) -> None:
    announce(alone, "there:1:other", on_disk=theirs)
    with pytest.raises(SettingsError, match=r"WECHAT_BRIDGE_MEDIA__FOLDER.*there"):
        start(alone, tmp_path if ours else None)


def test_a_host_that_has_left_does_not_count(alone: World, tmp_path: Path) -> None:
    announce(alone, "there:1:other", ago_seconds=120)
    start(alone, tmp_path)
    assert len(alone.bridge.workers.all()) == 1
