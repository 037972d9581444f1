"""One link of a poll chain: what is stored before what, when it goes on, and when the next link is due."""

from __future__ import annotations

import pytest

from tests.support.doorbells import taken
from tests.support.variations import failing, process, setting, using
from tests.support.world import World
from wechat_bridge.channels.base import PollAnswer, PollCut
from wechat_bridge.errors import BrokerUnavailable, LedgerUnavailable
from wechat_bridge.flow import poll
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.model.channel import Account, Channel, ChannelKind
from wechat_bridge.model.message import InboundMessage
from wechat_bridge.store import redis_keys


@pytest.fixture(autouse=True)
def no_other_doorbells(world: World) -> None:
    """The poll queue is empty: one that is not ends every slice."""
    world.wired.redis.delete(redis_keys.queue("poll"))


@pytest.fixture
def quick(world: World) -> World:
    """A channel whose idle polls are held for an instant, one poll a link, with a retry list of its own."""
    world.control.set_options(world.bot_id, hold_seconds=0.02)
    return using(setting(world, "poll", polls_per_task=1), unfinished=Unfinished())


def delay_seconds(world: World, channel: Channel) -> float:
    """In how many seconds the next link is due."""
    assert channel.next_poll_at is not None
    return (channel.next_poll_at - world.bridge.clock.now()).total_seconds()


def texts_waiting(world: World) -> list[str]:
    """The texts of ann's waiting messages."""
    return sorted(row.items[0].text for row in world.bridge.inbox.pending(world.chat()))


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
            return world.bridge.doors[ChannelKind.ILINK].poll(account, cursor, hold_hint_seconds)

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


# whose link it is


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
