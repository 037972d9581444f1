"""One link of a poll chain: what is stored before what, when it goes on, and when the next link is due."""

from __future__ import annotations

import pytest

from tests.flow.polling import delay_seconds, texts_waiting
from tests.support.doorbells import taken
from tests.support.variations import failing, setting, using
from tests.support.world import World
from wechat_bridge.channels.base import PollAnswer, PollCut, Polls
from wechat_bridge.errors import BrokerUnavailable, LedgerUnavailable
from wechat_bridge.model.channel import Account, ChannelKind
from wechat_bridge.store import redis_keys


@pytest.fixture(autouse=True)
def no_other_doorbells(world: World) -> None:
    """The poll queue is empty: one that is not ends every slice."""
    world.wired.redis.delete(redis_keys.queue("poll"))


# a poll


def test_messages_are_stored_the_cursor_moves_and_the_next_poll_acknowledges_it(quick: World) -> None:
    quick.control.say(quick.bot_id, quick.user(), "one", "two")
    channel = quick.poll()
    assert texts_waiting(quick) == ["one", "two"]
    assert channel.sync_buf != ""
    assert channel.last_message_at is not None
    quick.poll()
    assert [row["cursor"] for row in quick.control.polls(quick.bot_id)] == ["", channel.sync_buf]


def test_the_link_is_given_back_with_its_lock_and_the_next_one_is_rung(quick: World) -> None:
    before = quick.channel.generation
    channel = quick.poll()
    assert (channel.generation, channel.poll_owner, channel.link_deadline) == (before + 1, None, None)
    assert quick.bridge.locks.take(quick.share_id, "another", channel.generation + 1)
    rung = taken(quick, "poll")
    assert [(each.task, each.args) for each in rung] == [("poll_channel", [quick.share_id, channel.generation])]
    assert rung[0].task_id == f"poll:{quick.share_id}:{channel.generation}"


@pytest.mark.parametrize("variant", ["strict", "redeliver"])
def test_the_cursor_does_not_move_before_the_rows_are_durable(quick: World, variant: str) -> None:
    quick.control.set_options(quick.bot_id, cursor=variant)
    quick.control.say(quick.bot_id, quick.user(), "one", "two")
    channel = failing(quick, "inbox", "add", LedgerUnavailable("away")).poll()
    assert channel.sync_buf == ""
    assert 8 <= delay_seconds(quick, channel) <= 12
    polls = quick.polls()
    with pytest.raises(LedgerUnavailable):
        failing(quick, "inbox", "add", LedgerUnavailable("away")).poll()
    assert quick.polls() == polls  # what is in the spill comes before any further poll
    quick.poll()
    assert texts_waiting(quick) == ["one", "two"]
    quick.make_due()
    turn = quick.flush()
    assert turn is not None
    quick.answer(turn)
    assert quick.delivered() == ["one\ntwo"]


def test_a_store_that_fails_half_way_loses_and_doubles_nothing(quick: World) -> None:
    real = quick.bridge.inbox.add

    class HalfStore:
        """Stores the first row and fails."""

        def __getattr__(self, name: str) -> object:
            return getattr(quick.bridge.inbox, name)

        def add(self, rows: list[object]) -> set[str]:
            """Fail after the first row."""
            real(rows[:1])  # type: ignore[arg-type]
            raise LedgerUnavailable("away")

    quick.control.say(quick.bot_id, quick.user(), "one", "two")
    using(quick, inbox=HalfStore()).poll()
    assert quick.channel.sync_buf == ""
    quick.poll()
    quick.make_due()
    turn = quick.flush()
    assert turn is not None
    quick.answer(turn)
    assert quick.delivered() == ["one\ntwo"]


def test_a_cursor_that_could_not_be_written_is_asked_with_again_and_nothing_is_answered_twice(quick: World) -> None:
    quick.control.set_options(quick.bot_id, cursor="redeliver")
    quick.control.say(quick.bot_id, quick.user(), "one")
    with pytest.raises(LedgerUnavailable):
        failing(quick, "channels", "record_poll", LedgerUnavailable("away")).poll()
    assert quick.channel.sync_buf == ""
    channel = quick.poll()
    assert channel.sync_buf != ""
    assert [row["cursor"] for row in quick.control.polls(quick.bot_id)] == ["", ""]
    assert texts_waiting(quick) == ["one"]


@pytest.mark.parametrize("shape", ["empty", "absent"])
def test_an_empty_or_missing_cursor_never_overwrites_a_stored_one(quick: World, shape: str) -> None:
    quick.control.say(quick.bot_id, quick.user(), "one")
    before = quick.poll().sync_buf
    quick.control.set_options(quick.bot_id, cursor_field=shape)
    quick.control.say(quick.bot_id, quick.user(), "two")
    assert quick.poll().sync_buf == before != ""
    assert texts_waiting(quick) == ["one", "two"]


def test_a_doorbell_that_cannot_be_rung_for_a_conversation_does_not_block_the_cursor(quick: World) -> None:
    quick.control.say(quick.bot_id, quick.user(), "one")
    channel = failing(quick, "doorbells", "ring_flush", BrokerUnavailable("away")).poll()
    assert channel.sync_buf != ""


# when the next poll is due


def test_after_messages_the_next_link_is_due_at_once(quick: World) -> None:
    quick.control.say(quick.bot_id, quick.user(), "one")
    assert delay_seconds(quick, quick.poll()) <= 0


def test_an_instant_empty_answer_is_followed_after_ten_seconds_more_or_less(quick: World) -> None:
    delays = []
    for _ in range(4):
        quick.control.script("getupdates", bot_id=quick.bot_id, answer={"msgs": [], "get_updates_buf": "B"})
        delays.append(delay_seconds(quick, quick.poll()))
    assert all(7.5 <= delay <= 12 for delay in delays)
    assert max(delays) - min(delays) > 0.01


def test_an_answer_that_was_held_is_followed_at_once(world: World) -> None:
    world.control.set_options(world.bot_id, hold_seconds=0.15)
    held = setting(world, "poll", polls_per_task=3, empty_poll_delay_seconds=0.1)
    channel = held.poll()
    assert held.polls() == 3
    assert delay_seconds(held, channel) <= 0


# the slice


def test_a_slice_serves_several_polls_while_there_is_something(world: World) -> None:
    world.control.set_options(world.bot_id, hold_seconds=0.02, batch_limit=1)
    world.control.say(world.bot_id, world.user(), *(f"m{number}" for number in range(10)))
    eight = setting(world, "poll", polls_per_task=8)
    eight.poll()
    assert len(texts_waiting(world)) == 8
    assert world.channel.generation == 2  # one for the login, one for the link


def test_a_slice_ends_when_another_channel_waits_for_the_thread(world: World) -> None:
    world.control.set_options(world.bot_id, batch_limit=1)
    world.control.say(world.bot_id, world.user(), "one", "two")
    key = redis_keys.queue("poll")
    world.wired.redis.rpush(key, "{}")
    world.poll()
    world.wired.redis.lrem(key, 0, "{}")
    assert texts_waiting(world) == ["one"]
    assert delay_seconds(world, world.channel) <= 0


def test_a_slice_ends_when_its_lock_was_revoked_and_keeps_what_the_poll_brought(world: World) -> None:
    world.control.set_options(world.bot_id, batch_limit=1)
    world.control.say(world.bot_id, world.user(), "one", "two")

    class Revoking:
        """Loses the lock during the poll."""

        def poll(self, account: Account, cursor: str, hold_hint_seconds: float | None) -> PollAnswer:
            """Poll, and lose the lock."""
            world.bridge.locks.revoke(world.share_id)
            door = world.bridge.doors[ChannelKind.ILINK]
            assert isinstance(door, Polls)
            return door.poll(account, cursor, hold_hint_seconds)

    using(world, doors={ChannelKind.ILINK: Revoking()}).poll()
    assert texts_waiting(world) == ["one"]
    assert world.channel.sync_buf != ""


def test_a_poll_cut_by_the_stop_of_its_process_is_no_failure(quick: World) -> None:
    class Cut:
        """Is cut."""

        def poll(self, account: Account, cursor: str, hold_hint_seconds: float | None) -> PollAnswer:
            """Be cut."""
            raise PollCut("cut")

    channel = using(quick, doors={ChannelKind.ILINK: Cut()}).poll()
    assert delay_seconds(quick, channel) <= 0
    assert quick.wired.redis.get(redis_keys.poll_failures(quick.share_id)) is None
