"""Faults of other bridges in sending, with their inputs; the numbers are those of the field reports."""

from __future__ import annotations

import pytest

from tests.flow.delivering import calm, generated, queued, send
from tests.support.variations import engine, setting
from tests.support.world import World
from wechat_bridge.flow import deliver, reply
from wechat_bridge.flow.login.logged_in import complete_login
from wechat_bridge.model.channel import Account, Login
from wechat_bridge.model.outcome import Done, Park
from wechat_bridge.model.turn import TurnState


@pytest.fixture
def quick(world: World) -> World:
    """A channel without pacing, whose WeChat checks what real ones are reported to check."""
    world.control.set_options(world.bot_id, text_limit_bytes=16_384, sends_per_token=10)
    return setting(world, "reply", pacing_seconds=0.0)


def test_2_a_long_answer_arrives_whole_and_in_order(quick: World) -> None:
    """6,000 Chinese characters in one send were refused with -2 in an answer of HTTP 200, and logged as sent."""
    text = "".join(chr(0x4E00 + number % 5_000) for number in range(6_000))
    asking, _ = engine(quick, text)
    assert send(asking, generated(asking)) == Done()
    assert "".join(quick.delivered()) == text
    assert all(len(piece.encode()) <= 16_384 for piece in quick.delivered())
    assert {row["refused"] for row in quick.control.sends(quick.bot_id)} == {""}


def test_3_thirty_short_paragraphs_take_no_more_sends_than_one_message_allows(quick: World) -> None:
    paragraphs = [f"Paragraph {number}: " + "some words " * 20 for number in range(30)]
    asking, _ = engine(quick, "\n\n".join(paragraphs))
    assert send(asking, generated(asking)) == Done()
    assert len(quick.delivered()) <= 10
    assert "\n\n".join(quick.delivered()).split() == " ".join(paragraphs).split()
    assert {row["refused"] for row in quick.control.sends(quick.bot_id)} == {""}


@pytest.mark.parametrize("shape", ["errcode", "ret"])
def test_5_three_replies_wait_for_the_login_and_go_out_after_it(quick: World, shape: str) -> None:
    quick.control.set_options(quick.bot_id, stale_token_shape=shape)
    turns = [queued(quick, f"hello from {name}", name) for name in ("ann", "bob", "cid")]
    for turn in turns:
        reply.generate_reply(quick.bridge, turn.id)
    cursor = quick.channel.sync_buf
    quick.control.expire_token(quick.bot_id)
    assert [send(quick, turn) for turn in turns] == [Park("login_needed")] * 3
    assert (quick.channel.status_reason, quick.channel.sync_buf) == ("login_needed", cursor)
    bot = quick.control.create_bot()
    quick.control.set_options(bot["bot_id"], check_context_token=False)
    account = Account(token=bot["token"], account_id=bot["bot_id"], base_url=quick.control.base_url)
    complete_login(quick.bridge, quick.share_id, Login(account=account, owner_user_id=bot["user_id"]))
    calm(quick)
    for turn in turns:
        assert quick.turn(turn.id).state is TurnState.GENERATED
        deliver.deliver_reply(quick.bridge, turn.id)
    assert [quick.delivered(name) for name in ("ann", "bob", "cid")] == [
        [f"hello from {name}"] for name in ("ann", "bob", "cid")
    ]
