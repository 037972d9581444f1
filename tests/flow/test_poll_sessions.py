"""Sessions that end, with a word or without, and what an old one may not do to a new one."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.flow.polling import alerts, counter, fail
from tests.support.doorbells import taken
from tests.support.world import World
from wechat_bridge.flow.login.logged_in import complete_login
from wechat_bridge.flow.seed import seed_poll_chains
from wechat_bridge.model.channel import Account, Channel, ChannelStatus, Login, StatusReason


@pytest.mark.parametrize("shape", ["errcode", "ret", "both"])
def test_the_end_of_a_session_needs_a_login_at_once_and_keeps_cursor_and_inbox(quick: World, shape: str) -> None:
    before = alerts("login_needed")
    quick.control.say(quick.bot_id, quick.user(), "one")
    cursor = quick.poll().sync_buf
    quick.control.set_options(quick.bot_id, stale_token_shape=shape)
    quick.control.expire_token(quick.bot_id)
    channel = quick.poll()
    assert (channel.status, channel.status_reason) == (ChannelStatus.ERROR, StatusReason.LOGIN_NEEDED)
    assert (channel.sync_buf, channel.next_poll_at, channel.probe_at) == (cursor, None, None)
    assert len(quick.bridge.inbox.pending(quick.chat())) == 1
    assert counter(quick) is None
    assert alerts("login_needed") == before + 1


def test_a_channel_that_needs_a_login_is_never_probed(quick: World) -> None:
    quick.control.expire_token(quick.bot_id)
    quick.poll()
    taken(quick, "poll")
    polls = quick.polls()
    seed_poll_chains(quick.bridge)
    quick.poll()
    assert taken(quick, "poll") == []
    assert quick.polls() == polls


def log_in_again(world: World, person: str | None = None) -> str:
    """Scan a new QR code, with the same WeChat account or as another person; return the new bot."""
    bot = world.control.create_bot(user_id=world.channel.owner_user_id or "" if person is None else person)
    world.control.set_options(bot["bot_id"], check_context_token=False, hold_seconds=0.02)
    account = Account(token=bot["token"], account_id=bot["bot_id"], base_url=world.control.base_url)
    complete_login(world.bridge, world.share_id, Login(account=account, owner_user_id=bot["user_id"]))
    return bot["bot_id"]


def test_replies_that_waited_when_the_session_ended_go_out_after_the_login(quick: World) -> None:
    for name in ("ann", "bob", "eve"):
        quick.control.say(quick.bot_id, quick.user(name), f"from {name}")
    quick.poll()
    quick.control.expire_token(quick.bot_id)
    turn_ids = []
    for name in ("ann", "bob", "eve"):
        quick.make_due(name)
        turn = quick.flush(name)
        assert turn is not None
        turn_ids.append(turn.id)
        assert quick.answer(turn).park_reason == "login_needed"
    assert quick.channel.status_reason is StatusReason.LOGIN_NEEDED
    log_in_again(quick)
    for turn_id in turn_ids:
        assert quick.answer(quick.turn(turn_id)).state == "sent"
    assert [quick.delivered(name) for name in ("ann", "bob", "eve")] == [["from ann"], ["from bob"], ["from eve"]]


# K10: a login while an old poll is open


def log_in_during_a_poll(world: World, **script: Any) -> str:
    """Poll, log in again while the poll is open, and let it end as scripted, else with -14; return the new bot.

    WeChat itself ends the poll when the same person scans; so that it can be scripted, another person does.
    """
    world.control.set_options(world.bot_id, hold_seconds=10.0)
    thread = threading.Thread(target=world.poll)
    thread.start()
    assert world.control.wait_for_open_polls(1, world.bot_id) == 1
    new_bot = log_in_again(world, person="" if script else None)
    if script:
        world.control.script("getupdates", bot_id=world.bot_id, **script)
    thread.join(15)
    assert not thread.is_alive()
    return new_bot


OLD_ENDS: dict[str, dict[str, Any]] = {
    "with -14": {},
    "with a failure": {"body": "<html>"},
    "empty with a cursor": {"answer": {"ret": 0, "msgs": [], "get_updates_buf": "OLD"}},
}


@pytest.mark.parametrize("end", list(OLD_ENDS))
def test_however_an_old_poll_ends_a_login_made_meanwhile_is_left_alone(quick: World, end: str) -> None:
    new_bot = log_in_during_a_poll(quick, **OLD_ENDS[end])
    channel = quick.channel
    assert (channel.status, channel.status_reason, channel.epoch) == (ChannelStatus.ONLINE, StatusReason.NONE, 2)
    assert (channel.sync_buf, channel.last_error, channel.account_id) == ("", None, new_bot)
    assert counter(quick) == "0"
    assert channel.next_poll_at is not None
    quick.control.say(new_bot, quick.user(), "hello")
    quick.poll()
    assert len(quick.bridge.inbox.pending(quick.chat())) == 1


def test_the_fifth_failure_of_an_old_session_does_not_stop_the_new_one(quick: World) -> None:
    for _ in range(4):
        fail(quick)
    log_in_during_a_poll(quick, body="<html>")
    assert quick.channel.status is ChannelStatus.ONLINE
    assert quick.channel.next_poll_at is not None


def test_what_an_old_poll_still_brings_is_stored_and_answered(quick: World) -> None:
    items = [{"type": 1, "text_item": {"text": "late"}}]
    message = {"message_id": 7001, "from_user_id": quick.user(), "message_type": 1, "item_list": items}
    answer = {"ret": 0, "get_updates_buf": "OLD", "msgs": [message]}
    log_in_during_a_poll(quick, answer=answer)
    assert quick.channel.sync_buf == ""
    quick.make_due()
    turn = quick.flush()
    assert turn is not None
    quick.answer(turn)
    assert quick.delivered() == ["late"]


# a login that has died without saying so (report 19)


def test_answers_without_content_keep_the_cursor_and_make_the_login_suspect_once(quick: World) -> None:
    before = alerts("login_suspect")

    def answer(body: dict[str, Any]) -> Channel:
        quick.control.script("getupdates", bot_id=quick.bot_id, answer=body)
        return quick.poll()

    answer({"ret": 0, "msgs": [], "get_updates_buf": "B7"})
    suspects = [answer(body).suspect_polls for body in ({}, *[{"get_updates_buf": ""}] * 3)]
    assert suspects == [1, 2, 3, 4]
    assert quick.channel.sync_buf == "B7"
    assert quick.channel.status is ChannelStatus.ONLINE
    assert counter(quick) is None
    assert alerts("login_suspect") == before + 1
    channel = answer({"msgs": [], "get_updates_buf": "B8"})
    assert (channel.suspect_polls, channel.sync_buf) == (0, "B8")
