"""What a turn asks: texts in order, markers for what is no text, quotes apart and cut as the person marked them."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wechat_bridge.model.message import InboundMessage, Item, ItemKind, Quote, inbox_row
from wechat_bridge.model.question import excerpt, items_text, question_text

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def md5(text: str) -> str:
    """As WeChat sends it along with an excerpt."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def asked(*messages: tuple[Item, ...]) -> str:
    """The question of a turn of these messages."""
    rows = [
        inbox_row(InboundMessage(message_id=str(number), user_id="ann", items=items), "shop", 1, NOW, "poll")
        for number, items in enumerate(messages)
    ]
    return question_text(rows)


def text(words: str, quote: Quote | None = None) -> Item:
    """A text item."""
    return Item(kind=ItemKind.TEXT, text=words, quote=quote)


def test_texts_are_joined_by_newlines_in_order() -> None:
    assert asked((text("first"),), (text("second"), text("third"))) == "first\nsecond\nthird"


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (Item(kind=ItemKind.IMAGE), "[图片]"),
        (Item(kind=ItemKind.VIDEO), "[视频]"),
        (Item(kind=ItemKind.FILE), "[文件]"),
        (Item(kind=ItemKind.FILE, label="plan.pdf"), "[文件 plan.pdf]"),
        (Item(kind=ItemKind.VOICE), "[语音，无文字]"),
        (Item(kind=ItemKind.VOICE, text="turn on the light"), "turn on the light"),
        (Item(kind=ItemKind.UNKNOWN), "[无法显示的内容]"),
        (Item(kind=ItemKind.IMAGE, problem="密钥不符"), "「图片无法读取：密钥不符」"),
        (Item(kind=ItemKind.FILE, label="plan.pdf", problem="文件不存在"), "「文件 plan.pdf 无法读取：文件不存在」"),
        (Item(kind=ItemKind.VOICE, problem="下载失败"), "「语音无法读取：下载失败」"),
        (Item(kind=ItemKind.VIDEO, problem="文件过大"), "「视频无法读取：文件过大」"),
    ],
)
def test_what_is_no_text_leaves_a_marker_never_silence(item: Item, expected: str) -> None:
    assert asked((item,)) == expected


def test_what_is_quoted_stands_apart_before_the_words() -> None:
    quoting = text("why?", Quote(text="the server is down"))
    assert asked((quoting,)) == "「引用：the server is down」\nwhy?"
    assert items_text([quoting], quotes=False) == "why?"


def test_a_quote_that_nobody_can_resolve_is_marked() -> None:
    assert asked((text("and this?", Quote()),)) == "「引用：[无法显示的引用]」\nand this?"
    assert asked((text("and that?", Quote(message_id="7")),)) == "「引用：[无法显示的引用]」\nand that?"


def mark(start: str, end: str, start_index: int, end_index: int, expected: str | None) -> Quote:
    """An excerpt as WeChat marks it."""
    return Quote(
        message_id="1",
        excerpt_start=start,
        excerpt_end=end,
        start_index=start_index,
        end_index=end_index,
        excerpt_md5=md5(expected) if expected is not None else "",
    )


WORDS = "a red door, a blue door, a green door"


@pytest.mark.parametrize(
    ("start", "end", "start_index", "end_index", "expected"),
    [
        # the end counted from the beginning of the text
        ("blue", "door", 0, 1, "blue door"),
        ("blue", "door", 0, 2, "blue door, a green door"),
        ("a ", "door", 1, 1, "a blue door"),
        # the end counted from behind the start
        ("blue", "door", 0, 0, "blue door"),
        ("blue", "door", 0, 1, "blue door, a green door"),
        ("a ", "door", 1, 1, "a blue door, a green door"),
        # both readings are the same
        ("a red", "door", 0, 0, "a red door"),
    ],
)
def test_both_ways_to_count_the_end_are_tried_and_the_md5_decides(
    start: str, end: str, start_index: int, end_index: int, expected: str
) -> None:
    assert excerpt(WORDS, mark(start, end, start_index, end_index, expected)) == expected


def test_without_an_md5_the_first_reading_counts() -> None:
    assert excerpt(WORDS, mark("blue", "door", 0, 1, None)) == "blue door"


def test_the_fixture_with_only_an_id_and_partial_text() -> None:
    quote = mark("hel", "lo", 0, 0, None).model_copy(update={"excerpt_md5": "5d41402abc4b2a76b9719d911017c592"})
    assert excerpt("hello", quote) == "hello"


@pytest.mark.parametrize(
    "quote",
    [
        mark("blue", "door", 0, 0, "something else"),
        mark("blue", "door", 7, 0, None),
        mark("blue", "door", 10**18, 10**18, None),
        mark("nowhere", "door", 0, 0, None),
        mark("blue", "nowhere", 0, 0, None),
        mark("green", "red", 0, 0, None),
        mark("", "", 0, 0, None),
        Quote(message_id="1"),
    ],
)
def test_marks_that_fit_nowhere_give_the_whole_text(quote: Quote) -> None:
    assert excerpt(WORDS, quote) == WORDS


@given(st.text("ab ", min_size=1, max_size=30), st.data())
def test_any_part_marked_with_its_md5_is_found_again(whole: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(whole) - 1))
    end = data.draw(st.integers(begin + 1, len(whole)))
    part = whole[begin:end]
    size = data.draw(st.integers(1, len(part)))
    start_text, end_text = part[:size], part[-size:]
    start_index = sum(whole.startswith(start_text, at) for at in range(begin))
    behind = begin + size
    end_at = end - size
    absolute = sum(whole.startswith(end_text, at) for at in range(end_at))
    found = excerpt(whole, mark(start_text, end_text, start_index, absolute, part))
    assert found == part
    if end_at >= behind:
        relative = sum(whole.startswith(end_text, at) for at in range(behind, end_at))
        assert excerpt(whole, mark(start_text, end_text, start_index, relative, part)) == part
