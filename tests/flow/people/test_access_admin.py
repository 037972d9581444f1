"""What an operator decides, and what they are told when it cannot be had."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.flow.people.admitting import OPERATOR, age, under, wrote
from tests.support.world import World
from wechat_bridge.errors import AccessRefused, ChannelUnknown
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.people import access_admin as admin
from wechat_bridge.flow.people import takeover
from wechat_bridge.model.access import Policy


@pytest.mark.parametrize("user_id", ["*", "", " ", "an n"])
def test_everybody_is_let_in_by_the_policy_and_not_by_a_name_that_means_all(world: World, user_id: str) -> None:
    with pytest.raises(AccessRefused, match="policy SHARE_ID open"):
        admin.allow(world.bridge, world.share_id, user_id, OPERATOR)
    assert admin.overview(world.bridge, world.share_id)["persons"] == []


@pytest.mark.parametrize(
    "act",
    [
        lambda bridge: admin.set_policy(bridge, "nowhere", Policy.OPEN, OPERATOR),
        lambda bridge: admin.set_limits(bridge, "nowhere", 1, None, OPERATOR),
        lambda bridge: admin.allow(bridge, "nowhere", "ann", OPERATOR),
        lambda bridge: admin.deny(bridge, "nowhere", "ann", OPERATOR),
        lambda bridge: admin.forget(bridge, "nowhere", "ann", OPERATOR),
        lambda bridge: admin.approve(bridge, "nowhere", "ABCDEFGH", OPERATOR),
        lambda bridge: admin.set_muted(bridge, "nowhere", "ann", True, OPERATOR),
        lambda bridge: admin.set_human(bridge, "nowhere", "ann", True, OPERATOR),
        lambda bridge: admin.overview(bridge, "nowhere"),
    ],
)
def test_a_channel_that_does_not_exist_is_said(world: World, act: Callable[[Bridge], object]) -> None:
    with pytest.raises(ChannelUnknown, match="there is no channel nowhere"):
        act(world.bridge)
    assert world.bridge.conversations.get("wechat_nowhere_ann") is None


@pytest.mark.parametrize("limits", [(None, None), (-1, None), (3, -1)])
def test_limits_that_mean_nothing_are_refused(world: World, limits: tuple[int | None, int | None]) -> None:
    with pytest.raises(AccessRefused, match="numbers from 0"):
        admin.set_limits(world.bridge, world.share_id, limits[0], limits[1], OPERATOR)


def test_one_limit_is_changed_without_the_other_and_taken_back(world: World) -> None:
    for per_minute, per_day in ((20, 500), (None, 100), (0, None)):
        admin.set_limits(world.bridge, world.share_id, per_minute, per_day, OPERATOR)
    rules = world.channel.access
    assert (rules.messages_per_minute, rules.messages_per_day, rules.policy) == (0, 100, Policy.OPEN)


def test_the_overview_shows_what_holds_now_the_latest_first(world: World) -> None:
    under(world, Policy.PAIRING)
    wrote(world, "hello")
    wrote(world, "hello", name="old")
    age(world, 3601, "old")
    admin.allow(world.bridge, world.share_id, world.user("bob"), OPERATOR)
    takeover.take_over(world.bridge, world.share_id, world.user("bob"), OPERATOR, world.bridge.clock.now())
    found = admin.overview(world.bridge, world.share_id)
    assert (found["policy"], found["messages_per_day"]) == ("pairing", 0)
    assert found["owner_user_id"] == world.channel.owner_user_id
    bob, ann, old = found["persons"]
    assert (bob["user_id"], bob["standing"], bob["by"]) == (world.user("bob"), "listed", OPERATOR)
    assert bob["human_until"]
    assert (ann["user_id"], len(ann["code"]), ann["standing"]) == (world.user(), 8, None)
    assert _without(old, "at") == {"user_id": world.user("old"), "standing": None, "by": "", "muted": False}


def _without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}
