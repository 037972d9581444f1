"""Whose link it is, which channels are not polled, and that whatever happens leads to a next link."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flow.polling import delay_seconds, texts_waiting
from tests.support.doorbells import taken
from tests.support.variations import failing, process, unanswered, using
from tests.support.world import World
from wechat_bridge.channels.base import PollAnswer
from wechat_bridge.errors import BrokerUnavailable, LedgerUnavailable
from wechat_bridge.flow import poll
from wechat_bridge.model.channel import Account, ChannelKind
from wechat_bridge.model.message import InboundMessage
from wechat_bridge.store import redis_keys


@pytest.fixture(autouse=True)
def no_other_doorbells(world: World) -> None:
    """The poll queue is empty: one that is not ends every slice."""
    world.wired.redis.delete(redis_keys.queue("poll"))


def test_a_doubled_or_stale_doorbell_does_nothing(quick: World) -> None:
    generation = quick.channel.generation
    quick.poll()
    taken(quick, "poll")
    before, polls = quick.channel, quick.polls()
    poll.poll_channel(quick.bridge, quick.share_id, generation)
    assert quick.polls() == polls
    assert quick.channel == before
    assert taken(quick, "poll") == []


def test_a_doorbell_while_the_link_is_served_by_another_process_does_nothing(quick: World) -> None:
    other = process(quick, "another")
    assert other.bridge.locks.take(quick.share_id, "another", quick.channel.generation + 1)
    before = quick.channel
    assert quick.poll() == before
    assert quick.polls() == 0


def test_without_redis_telling_who_holds_the_lock_the_ledger_still_refuses(quick: World) -> None:
    bridge, channel = quick.bridge, quick.channel
    deadline = bridge.clock.after(60)
    assert bridge.channels.take_link(channel.id, channel.generation, "another", bridge.clock.now(), deadline)
    poll.poll_channel(bridge, channel.id, channel.generation)
    poll.poll_channel(bridge, channel.id, channel.generation + 1)
    assert quick.polls() == 0
    assert quick.channel.poll_owner == "another"
    assert bridge.locks.take(channel.id, "another", 9)  # the refused ones have let it go


def test_a_process_that_is_not_seen_alive_polls_nothing_and_rings_for_somebody_else(quick: World) -> None:
    before = quick.channel
    assert process(quick, "frozen", stale=True).poll() == before
    assert quick.polls() == 0
    assert [each.args for each in taken(quick, "poll")] == [[quick.share_id, before.generation]]


# K4


@pytest.mark.parametrize(
    "fields",
    [
        {"enabled": False},
        {"status": "offline", "status_reason": "never_logged_in"},
        {"status": "error", "status_reason": "login_needed"},
        {"sealed_account": None},
    ],
)
def test_a_channel_that_is_not_to_be_polled_is_not_and_its_chain_ends(quick: World, fields: dict[str, object]) -> None:
    quick.bridge.channels.collection.update_one({"_id": quick.share_id}, {"$set": fields})
    channel = quick.poll()
    assert quick.polls() == 0
    assert channel.next_poll_at is None
    assert taken(quick, "poll") == []
    assert quick.bridge.locks.take(quick.share_id, "another", 9)


def test_a_channel_that_does_not_exist_any_more_is_not_polled(quick: World) -> None:
    quick.bridge.channels.collection.delete_one({"_id": quick.share_id})
    poll.poll_channel(quick.bridge, quick.share_id, 1)
    assert quick.polls() == 0
    assert taken(quick, "poll") == []


def test_a_channel_disabled_during_its_poll_keeps_what_that_brings_and_is_not_polled_again(world: World) -> None:
    class Disabling:
        """Is switched off while it polls."""

        def poll(self, account: Account, cursor: str, hold_hint_seconds: float | None) -> PollAnswer:
            """Bring a message."""
            world.bridge.channels.set_enabled(world.share_id, False, world.bridge.clock.now())
            world.bridge.locks.revoke(world.share_id)
            return PollAnswer(messages=(message(),), cursor="B9")

    def message() -> InboundMessage:
        return world.text("one")

    using(world, doors={ChannelKind.ILINK: Disabling()}).poll()
    assert texts_waiting(world) == ["one"]
    assert world.poll().next_poll_at is None
    assert world.polls() == 0


# whatever happens, there is a next link


def test_a_bug_in_the_middle_of_a_poll_does_not_end_the_chain(quick: World) -> None:
    class Broken:
        """Has a bug."""

        def poll(self, account: Account, cursor: str, hold_hint_seconds: float | None) -> PollAnswer:
            """Fail."""
            raise KeyError("bug")

    with pytest.raises(KeyError):
        using(quick, doors={ChannelKind.ILINK: Broken()}).poll()
    channel = quick.channel
    assert channel.poll_owner is None
    assert 8 <= delay_seconds(quick, channel) <= 12
    assert len(taken(quick, "poll")) == 1


@pytest.mark.parametrize(
    ("part", "method", "error"),
    [
        ("channels", "finish_link", LedgerUnavailable("away")),
        ("locks", "release", BrokerUnavailable("away")),
        ("locks", "announce", BrokerUnavailable("away")),
        ("doorbells", "ring_poll", BrokerUnavailable("away")),
    ],
)
def test_a_link_that_cannot_be_given_back_now_is_given_back_later(
    quick: World, part: str, method: str, error: Exception
) -> None:
    failing(quick, part, method, error).poll()
    assert len(quick.bridge.unfinished) == 1
    quick.bridge.unfinished.work_off()
    assert len(quick.bridge.unfinished) == 0
    channel = quick.channel
    assert channel.poll_owner is None
    assert channel.next_poll_at is not None
    assert quick.bridge.locks.take(quick.share_id, "another", channel.generation + 1)
    assert [each.args for each in taken(quick, "poll")] == [[quick.share_id, channel.generation]]


@pytest.mark.parametrize("lost", [unanswered, failing])
def test_a_link_of_which_nobody_heard_is_given_back_and_taken_by_the_next_doorbell(
    quick: World, lost: Callable[[World, str, str, Exception], World]
) -> None:
    with pytest.raises(LedgerUnavailable):
        lost(quick, "channels", "take_link", LedgerUnavailable("away")).poll()
    quick.bridge.unfinished.work_off()
    assert len(quick.bridge.unfinished) == 0
    channel = quick.channel
    assert channel.poll_owner is None
    assert delay_seconds(quick, channel) <= 0
    assert quick.poll().generation == channel.generation + 1
    assert quick.polls() == 1


def test_a_link_of_which_nobody_heard_is_not_taken_from_who_has_it_now(quick: World) -> None:
    with pytest.raises(LedgerUnavailable):
        failing(quick, "channels", "take_link", LedgerUnavailable("away")).poll()
    bridge, channel = quick.bridge, quick.channel
    now = bridge.clock.now()
    link = bridge.channels.take_link(channel.id, channel.generation, bridge.owner, now, bridge.clock.after(60))
    bridge.unfinished.work_off()
    assert quick.channel == link


def test_a_link_given_back_later_does_not_touch_one_that_somebody_took_meanwhile(quick: World) -> None:
    failing(quick, "channels", "finish_link", LedgerUnavailable("away")).poll()
    bridge, channel = quick.bridge, quick.channel
    bridge.channels.free_links([{"_id": channel.id, "poll_owner": bridge.owner}], bridge.clock.now())
    link = bridge.channels.take_link(channel.id, channel.generation, "another", bridge.clock.now(), bridge.clock.now())
    assert link is not None
    bridge.unfinished.work_off()
    assert quick.channel == link
    assert taken(quick, "poll") == []


def test_credentials_that_no_key_opens_ask_for_a_login_instead_of_polling(quick: World) -> None:
    quick.bridge.channels.collection.update_one({"_id": quick.share_id}, {"$set": {"sealed_account": "garbage"}})
    channel = quick.poll()
    assert (channel.status, channel.status_reason) == ("error", "login_needed")
    assert "WECHAT_BRIDGE_SECRET_KEYS" in (channel.last_error or "")
    assert (channel.poll_owner, channel.next_poll_at) == (None, None)
    assert quick.polls() == 0
