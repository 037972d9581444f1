"""Acceptance J4: who may not talk is refused before anything is fetched, shown, merged or asked for them.

Own echoes and messages of long ago tell nobody a code, and where the rules cannot be read nobody is let in.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from tests.flow.delivering import queued
from tests.flow.people.admitting import is_refused, notice, person, under, wrote
from tests.support import media
from tests.support.doorbells import taken
from tests.support.pictures import png
from tests.support.variations import engine, failing, using
from tests.support.world import World
from wechat_bridge.errors import DocumentInvalid, LedgerUnavailable
from wechat_bridge.flow import intake, turns
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.model.access import Policy, Reason
from wechat_bridge.model.channel import Account, ChannelKind


class ClosedDoor:
    """Media nobody may fetch."""

    def __init__(self) -> None:
        self.fetched: list[int] = []

    def fetch(self, account: Account, raw: str, position: int, *_: Any) -> None:
        """Note that somebody did."""
        self.fetched.append(position)

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} is not for a stranger")


@pytest.mark.parametrize("policy", [Policy.PAIRING, Policy.ALLOWLIST, Policy.DISABLED])
def test_of_a_stranger_no_picture_is_fetched_no_typing_shown_and_no_engine_asked(world: World, policy: Policy) -> None:
    asking, scripted = engine(under(world, policy), "nobody may hear this")
    closed = ClosedDoor()
    doors: Mapping[ChannelKind, Any] = {ChannelKind.ILINK: closed}
    quiet = using(asking, media_doors=doors)
    world.control.send_items(world.bot_id, world.user(), [media.text("look"), media.image(world, png(1_000))])
    quiet.poll()
    world.make_due()
    turns.flush_conversation(quiet.bridge, world.chat())
    Sweeper().sweep(quiet.bridge)
    assert world.bridge.turns.open_of(world.chat()) is None
    assert (closed.fetched, scripted.asked, world.control.typing(world.bot_id)) == ([], [], [])
    assert taken(world, "reply") == []
    rows = list(world.bridge.inbox.collection.find({"share_id": world.share_id}))
    assert [row["state"] for row in rows] == ["skipped"]


def test_the_picture_of_who_is_let_in_goes_through_the_same_door(world: World) -> None:
    """The other side of the test above: its door and its picture are of the kind that is fetched."""
    closed = ClosedDoor()
    doors: Mapping[ChannelKind, Any] = {ChannelKind.ILINK: closed}
    open_to_all = using(under(world, Policy.OPEN), media_doors=doors)
    world.control.send_items(world.bot_id, world.user(), [media.image(world, png(1_000))])
    open_to_all.poll()
    world.make_due()
    turn = open_to_all.flush()
    assert turn is not None
    open_to_all.answer(turn)
    assert closed.fetched == [0]


def test_what_a_stranger_wrote_is_never_part_of_a_later_question(world: World) -> None:
    asking, scripted = engine(under(world, Policy.PAIRING), "yes")
    wrote(asking, "before one", "before two")
    world.bridge.access.decide(world.share_id, world.user(), world.bridge.clock.now(), standing="paired")
    asking.answer(queued(asking, "after"))
    assert [question.text for question in scripted.asked] == ["after"]
    assert scripted.asked[0].history == ()


def test_own_echoes_tell_nobody_a_code(world: World) -> None:
    under(world, Policy.PAIRING)
    echo = {"message_id": 77, "from_user_id": world.user(), "message_type": 2, "context_token": "c",
            "item_list": [{"type": 1, "text_item": {"text": "I am the bot"}}]}  # fmt: skip
    world.control.script("getupdates", world.bot_id, answer={"ret": 0, "msgs": [echo], "get_updates_buf": "B1"})
    world.poll()
    turns.flush_conversation(world.bridge, world.chat())
    Sweeper().sweep(world.bridge)
    row = world.bridge.inbox.get(f"{world.share_id}:77")
    assert row is not None
    assert (row.state, row.reason) == ("skipped", "own message")
    assert (notice(world), world.bridge.access.waiting_codes(world.share_id, world.bridge.clock.now())) == (None, [])


@pytest.mark.parametrize("how", ["history", "long ago"])
def test_messages_of_long_ago_are_refused_without_a_code_and_a_new_one_gets_it(world: World, how: str) -> None:
    under(world, Policy.PAIRING)
    sent_at = world.bridge.clock.now() - timedelta(minutes=61) if how == "long ago" else None
    old = world.text("an old question", sent_at=sent_at)
    intake.store(world.bridge, world.channel, [old], "history" if how == "history" else "poll")
    world.make_due()
    turns.flush_conversation(world.bridge, world.chat())
    assert is_refused(world, old, Reason.NOT_PAIRED)
    assert (notice(world), person(world).code) == (None, "")
    wrote(world, "hello")
    assert notice(world) is not None
    assert len(person(world).code) == 8


def test_rules_that_cannot_be_read_let_nobody_in(world: World) -> None:
    asking, scripted = engine(under(world, Policy.PAIRING), "nobody may hear this")
    blind = failing(asking, "access", "gate", LedgerUnavailable("away"), times=3)
    message = world.text("hello")
    world.receive(message)
    for _ in range(3):
        world.make_due()
        with pytest.raises(LedgerUnavailable):
            turns.flush_conversation(blind.bridge, world.chat())
    assert (world.row_state(message)[0], scripted.asked, notice(world)) == ("pending", [], None)
    assert world.bridge.turns.open_of(world.chat()) is None


def test_rules_that_make_no_sense_let_nobody_in_and_are_named(world: World) -> None:
    message = world.text("hello")
    world.receive(message)
    world.make_due()
    wrong = {"$set": {"access": {"policy": "everybody, please"}}}
    world.bridge.channels.collection.update_one({"_id": world.share_id}, wrong)
    with pytest.raises(DocumentInvalid, match=world.share_id):
        turns.flush_conversation(world.bridge, world.chat())
    assert (world.row_state(message)[0], world.bridge.turns.open_of(world.chat())) == ("pending", None)
