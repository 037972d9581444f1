"""Quotes that carry only an id are resolved from what the bridge has stored, within one conversation."""

from __future__ import annotations

from tests.support.variations import engine
from tests.support.world import World
from wechat_bridge.model.message import InboundMessage, Item, ItemKind, Quote


def question(world: World, message: InboundMessage, name: str = "ann") -> str | None:
    """What the engine is asked for a message."""
    world.receive(message)
    world.make_due(name)
    turn = world.flush(name)
    assert turn is not None
    return world.answer(turn).question


def quoting(world: World, quote: Quote, name: str = "ann") -> InboundMessage:
    """A message that quotes another one."""
    return world.text("why?", name=name, items=(Item(kind=ItemKind.TEXT, text="why?", quote=quote),))


def test_a_message_known_by_its_id_is_quoted_with_its_words(world: World) -> None:
    quoted = world.text("the server is down")
    question(world, quoted)
    asked = question(world, quoting(world, Quote(message_id=quoted.message_id)))
    assert asked == "「引用：the server is down」\nwhy?"


def test_only_the_part_that_was_marked_is_quoted(world: World) -> None:
    quoted = world.text("the server is down and the door is open")
    question(world, quoted)
    quote = Quote(message_id=quoted.message_id, excerpt_start="the door", excerpt_end="open")
    assert question(world, quoting(world, quote)) == "「引用：the door is open」\nwhy?"


def test_a_quote_of_a_quote_is_cut_at_depth_one(world: World) -> None:
    first = world.text("first")
    question(world, first)
    second = quoting(world, Quote(message_id=first.message_id))
    question(world, second)
    assert question(world, quoting(world, Quote(message_id=second.message_id))) == "「引用：why?」\nwhy?"


def test_what_another_person_said_is_never_shown(world: World) -> None:
    secret = world.text("my secret", name="bob")
    question(world, secret, "bob")
    asked = question(world, quoting(world, Quote(message_id=secret.message_id)))
    assert asked == "「引用：[无法显示的引用]」\nwhy?"


def test_an_unknown_id_leaves_a_marker(world: World) -> None:
    asked = question(world, quoting(world, Quote(message_id="7000000000000000123")))
    assert asked == "「引用：[无法显示的引用]」\nwhy?"


def test_what_the_bot_said_is_quoted_with_its_words_and_only_within_its_conversation(world: World) -> None:
    """Since September 2026 a quote carries the id alone, in both directions."""
    answering, _ = engine(world, "the door is blue and the house is red")
    question(answering, world.text("hello"))
    sent = world.control.sends(world.bot_id)[-1]["message_id"]
    quote = Quote(message_id=str(sent), excerpt_start="the house", excerpt_end="red")
    assert question(world, quoting(world, quote)) == "「引用：the house is red」\nwhy?"
    of_bob = question(world, quoting(world, quote, "bob"), "bob")
    assert of_bob == "「引用：[无法显示的引用]」\nwhy?"
