"""Who may talk, and answers by hand, as an operator calls them through Flower: on a real ops worker."""

from __future__ import annotations

from typing import Any

import pytest

from tests.flow.people.admitting import person, under, wrote
from tests.support.system import System
from tests.tasks.test_management import call, refusal
from wechat_bridge.model.access import Policy

pytestmark = pytest.mark.story


def test_a_stranger_is_approved_limited_denied_and_let_in_by_name(system: System) -> None:
    world = under(system.channel(), Policy.OPEN)
    share_id, ann = world.share_id, world.user()
    assert call(system, "access_policy", share_id, " pairing ")["message"] == "policy pairing, from the next message on"
    wrote(world, "hello")
    code = person(world).code
    assert call(system, "access_list", share_id)["persons"][0]["code"] == code
    assert call(system, "access_approve", share_id, code)["user_id"] == ann
    assert call(system, "access_limit", share_id, per_day="5")["message"] == "the limits are changed"
    for name, standing in (("deny", "denied"), ("allow", "listed"), ("forget", None)):
        call(system, f"access_{name}", share_id, ann)
        assert call(system, "access_list", share_id)["persons"][0]["standing"] == standing
    assert call(system, "access_list", share_id)["messages_per_day"] == 5


def test_a_conversation_is_taken_over_answered_by_hand_and_given_back(system: System) -> None:
    world = system.channel()
    share_id, ann = world.share_id, world.user()
    wrote(world, "/help")
    call(system, "access_human", share_id, ann)
    assert person(world).is_with_human(world.bridge.clock.now())
    sent = call(system, "send_notice", share_id, ann, "a human here", id="1")
    assert sent["turn_id"].startswith("wechat-hand:")
    assert call(system, "send_notice", share_id, ann, "a human here", "1") == sent
    call(system, "access_bot", share_id, ann)
    assert not person(world).is_with_human(world.bridge.clock.now())
    call(system, "access_mute", share_id, ann)
    assert person(world).muted
    call(system, "access_unmute", share_id, ann)
    assert not person(world).muted


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("access_list", ["nobody"], "there is no channel nobody"),
        ("access_policy", ["nobody", "everybody"], "policy should be one of: open, allowlist, pairing, disabled"),
        ("access_limit", ["nobody", -1], "a limit should be a number from 0"),
        ("access_limit", ["nobody", True], "a limit should be a number from 0"),
        ("access_allow", ["nobody", ""], "user_id should be a WeChat user"),
        ("access_human", ["nobody", "ann"], "there is no channel nobody"),
        ("send_notice", ["nobody", "ann", 5], "text should be what is to be said"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(system: System, name: str, args: list[Any], said: str) -> None:
    assert said in refusal(system, name, *args)
