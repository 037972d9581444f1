from __future__ import annotations

import socket
import time

import requests

from .conftest import USER, BotClient, is_closed


def test_two_polls_open_at_once_on_one_bot_are_recorded_with_both_ends(bot: BotClient) -> None:
    first = bot.open_poll()
    second = bot.open_poll(open_polls=2)
    bot.control.say(bot.bot_id, USER, "hi")
    bot.control.say(bot.bot_id, USER, "there")
    assert {len(first.result(5)["msgs"]), len(second.result(5)["msgs"])} == {1}
    stats = bot.control.stats(bot.bot_id)
    assert (stats["overlap_count"], stats["max_open_polls"]) == (1, 2)
    [overlap] = stats["overlaps"]
    assert overlap["first"]["started_at"] < overlap["second"]["started_at"] == overlap["at"]
    assert overlap["first"]["peer"] != overlap["second"]["peer"]
    assert bot.control.stats()["overlaps"] == 1


def test_the_second_of_two_polls_may_end_the_first(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, second_poller="end_first")
    first = bot.open_poll()
    second = bot.open_poll()
    assert first.result(1)["msgs"] == []
    bot.control.say(bot.bot_id, USER, "hi")
    assert len(second.result(5)["msgs"]) == 1
    assert [poll["outcome"] for poll in bot.control.polls(bot.bot_id)] == ["superseded", "messages"]


def test_a_poll_after_the_answer_of_the_last_one_never_counts_as_an_overlap(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, hold_seconds=0)
    with requests.Session() as session:
        for _ in range(300):
            session.post(f"{bot.base_url}/ilink/bot/getupdates", json={}, headers=bot.headers, timeout=5)
    stats = bot.control.stats(bot.bot_id)
    assert (stats["overlap_count"], stats["max_open_polls"]) == (0, 1)
    assert len(bot.control.polls(bot.bot_id)) == 300


def test_a_client_that_left_and_polls_again_at_once_does_not_overlap_with_itself(bot: BotClient) -> None:
    for _ in range(20):
        bot.raw_poll().close()
    bot.control.wait_for_open_polls(0, bot.bot_id)
    assert bot.control.stats(bot.bot_id)["overlap_count"] == 0


def test_the_poll_log_gives_start_end_and_outcome_so_that_gaps_can_be_measured(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, hold_seconds=0.1)
    before = time.time()
    bot.poll()
    bot.hear("one", "two")
    idle, full = bot.control.polls(bot.bot_id)
    assert (idle["outcome"], full["outcome"], full["messages"]) == ("empty", "messages", 2)
    assert before <= idle["started_at"] < idle["ended_at"] <= full["started_at"] <= full["ended_at"] <= time.time()
    assert idle["ended_at"] - idle["started_at"] >= 0.09


def test_the_poll_log_is_bounded(bot: BotClient) -> None:
    bot.control.set_options(hold_seconds=0, poll_log_size=3)
    short = bot.control.create_bot()
    client = BotClient(bot.control, short["bot_id"], short["token"])
    for _ in range(5):
        client.poll()
    client.close()
    assert len(bot.control.polls(short["bot_id"])) == 3


def test_a_message_is_kept_when_the_poll_was_closed_before_it_came(bot: BotClient) -> None:
    bot.raw_poll().close()
    assert bot.control.wait_for_open_polls(0, bot.bot_id) == 0
    assert len(bot.hear("hi")) == 1
    assert [poll["outcome"] for poll in bot.control.polls(bot.bot_id)] == ["client_closed", "messages"]
    assert bot.control.stats(bot.bot_id)["lost_batches"] == []


def test_a_server_that_does_not_notice_a_closed_poll_loses_the_next_batch_into_it(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, notice_disconnect=False, hold_seconds=1)
    bot.raw_poll().close()
    # The answer can only be written to a dead connection once the server's socket has seen the close.
    ids = bot.control.say(bot.bot_id, USER, "hi")
    assert bot.control.wait_for_open_polls(0, bot.bot_id) == 0
    assert bot.poll()["msgs"] == []
    stats = bot.control.stats(bot.bot_id)
    assert [batch["message_ids"] for batch in stats["lost_batches"]] == [ids]
    assert bot.control.stats()["lost_batches"] == 1


def test_a_batch_that_a_dying_client_had_not_read_is_lost_and_named(bot: BotClient) -> None:
    connection = bot.raw_poll()
    ids = bot.control.say(bot.bot_id, USER, "hi")
    assert connection.recv(1, socket.MSG_PEEK) == b"H"
    connection.close()
    bot.control.set_options(bot.bot_id, hold_seconds=0.1)
    assert bot.poll()["msgs"] == []
    [lost] = bot.control.stats(bot.bot_id)["lost_batches"]
    assert lost["message_ids"] == ids
    assert "reset" in lost["reason"]


def test_a_redelivering_server_loses_nothing_to_a_dying_client(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, cursor="redeliver")
    connection = bot.raw_poll()
    [message_id] = bot.control.say(bot.bot_id, USER, "hi")
    assert connection.recv(1, socket.MSG_PEEK) == b"H"
    connection.close()
    assert [str(message["message_id"]) for message in bot.poll()["msgs"]] == [message_id]
    assert bot.control.stats(bot.bot_id)["lost_batches"] == []


def test_a_poll_with_an_older_cursor_tells_which_batches_the_client_never_acknowledged(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, hold_seconds=0)
    bot.control.say(bot.bot_id, USER, "one")
    first = bot.poll()
    ids = bot.control.say(bot.bot_id, USER, "two")
    bot.poll(first["get_updates_buf"])
    bot.poll(first["get_updates_buf"])
    bot.poll(first["get_updates_buf"])
    stats = bot.control.stats(bot.bot_id)
    assert [batch["message_ids"] for batch in stats["unacknowledged_batches"]] == [ids]
    assert stats["lost_batches"] == []


def test_breaking_connections_resets_the_open_polls(bot: BotClient) -> None:
    connection = bot.raw_poll()
    assert bot.control.break_connections(bot.bot_id) == 1
    assert is_closed(connection)
    assert bot.control.wait_for_open_polls(0, bot.bot_id) == 0
