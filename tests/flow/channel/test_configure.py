"""How a channel answers is changed at once, checked first, and counts from the next turn on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.flow.delivering import queued
from tests.support.variations import ScriptedEngine, setting, using
from tests.support.world import World
from wechat_bridge.errors import BridgeError, ChannelInvalid, ChannelUnknown, NotConfigured
from wechat_bridge.flow.channel.configure import configure
from wechat_bridge.model.channel import QueueMode
from wechat_bridge.store.vault import Vault

BY = "operator@host"
SECRET = "the-secret-of-the-check"
CHECK = {"check_url": "https://check.example/x", "check_secret": SECRET}


def test_what_is_given_changes_and_the_rest_stays_login_and_cursor_too(world: World) -> None:
    before = world.channel
    configure(world.bridge, world.share_id, {"name": "小店", "queue_mode": QueueMode.FOLLOWUP}, {"label": "AI"}, BY)
    was, now = configure(world.bridge, world.share_id, {}, {"words": ("bad => good",)}, BY)
    after = world.channel
    assert now == after
    assert (was.outgoing.words, after.outgoing.words) == ((), ("bad => good",))
    assert (after.name, after.queue_mode, after.outgoing.label) == ("小店", QueueMode.FOLLOWUP, "AI")
    same = {"name", "queue_mode", "outgoing"}
    assert after.model_dump(exclude=same) == before.model_dump(exclude=same)


def test_it_counts_from_the_next_turn_on(world: World) -> None:
    class Other(ScriptedEngine):
        name = "other"

    quick = using(
        setting(world, "reply", pacing_seconds=0.0), engines={**world.bridge.engines, "other": Other("other says")}
    )
    quick.answer(queued(quick, "one"))
    configure(quick.bridge, world.share_id, {"engine": "other"}, {"label": "AI"}, BY)
    quick.answer(queued(quick, "two"))
    assert world.delivered() == ["one", "other says\n\nAI"]


def test_a_secret_is_stored_encrypted_and_taken_away_with_its_address(world: World) -> None:
    configure(world.bridge, world.share_id, {}, CHECK, BY)
    stored = world.bridge.channels.collection.find_one({"_id": world.share_id})
    assert SECRET not in str(stored)
    sealed = world.channel.outgoing.sealed_check_secret
    assert world.bridge.channels.vault.open_text(sealed) == SECRET
    configure(world.bridge, world.share_id, {}, {"check_url": "", "check_secret": ""}, BY)
    assert (world.channel.outgoing.check_url, world.channel.outgoing.sealed_check_secret) == ("", "")


@pytest.mark.parametrize(
    ("fields", "rules", "complaint"),
    [
        ({"engine": "parrot"}, {}, "there is no engine parrot; there are: echo"),
        ({}, {"check_url": "https://check.example"}, "needs a secret"),
        ({}, CHECK | {"check_url": "not an address"}, "check_url: should be https"),
        ({}, {"label": "x" * 61}, "label: "),
        ({}, {"words": ("fine", "=> x")}, "words: line 2 has no word"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    world: World, fields: dict[str, Any], rules: dict[str, Any], complaint: str
) -> None:
    before = world.channel
    with pytest.raises(ChannelInvalid, match=complaint):
        configure(world.bridge, world.share_id, {"name": "x"} | fields, rules, BY)
    assert world.channel == before


def test_an_engine_that_only_the_workers_know_keeps_nothing_else_from_being_changed(world: World) -> None:
    world.bridge.channels.configure(world.share_id, {"engine": "of-the-workers"})
    configure(world.bridge, world.share_id, {"name": "shop"}, {}, BY)
    assert (world.channel.name, world.channel.engine) == ("shop", "of-the-workers")


def test_a_label_must_fit_into_one_message(world: World) -> None:
    short = setting(world, "reply", chunk_characters=16)
    with pytest.raises(ChannelInvalid, match="CHUNK_CHARACTERS"):
        configure(short.bridge, world.share_id, {}, {"label": "x" * 17}, BY)


@pytest.mark.parametrize(("share_id", "error"), [("nowhere", ChannelUnknown), ("", NotConfigured)])
def test_without_a_channel_or_a_key_nothing_is_stored(world: World, share_id: str, error: type[BridgeError]) -> None:
    channels = world.bridge.channels
    keyless = using(world, channels=type(channels)(channels.collection.database, Vault([])))
    with pytest.raises(error):
        configure(keyless.bridge, share_id or world.share_id, {}, {} if share_id else CHECK, BY)
    assert world.channel.outgoing.check_url == ""
