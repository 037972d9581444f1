"""Words that no answer may contain: what is found however it is written, what is not, and what takes its place."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wechat_bridge.model.word_list import MASK, MOST_WORDS, apply, parse

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
LIST = ["敏感词 =>", "spam => ham", "ass =>", "badword", "café => tea", "a.b => dots"]


def stars(count: int) -> str:
    return MASK * count


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("有敏感词啊", f"有{stars(3)}啊"),
        ("敏感词敏感词", stars(6)),
        ("敏\u200b感\u2060词", stars(5)),
        ("敏 感 词", stars(5)),
        ("**敏感**词", f"**{stars(5)}"),
        ("Spam, SPAM and ＳＰＡＭ", "ham, ham and ham"),
        ("s p a m", "ham"),
        ("S.P.A.M!", "ham!"),
        ("sp**a**m", "ham"),
        ("CAFE\u0301 or café", "tea or tea"),
        ("我的spam呢", "我的ham呢"),
        ("a.b", "dots"),
        (f"{FAMILY}敏感词{FAMILY}", f"{FAMILY}{stars(3)}{FAMILY}"),
        ("bad ass", f"bad {stars(3)}"),
    ],
)
def test_a_word_is_replaced_however_it_is_written(text: str, after: str) -> None:
    assert apply(parse(LIST), text) == after


@pytest.mark.parametrize("text", ["badword", "a BadWord.", "b a d w o r d", "敏感词和badword"])
def test_a_word_without_a_replacement_refuses_the_whole(text: str) -> None:
    assert apply(parse(LIST), text) is None


@pytest.mark.parametrize(
    "text", ["class, assess", "badwords", "敏感的词", "敏感\n词", "a s s", "spa m", "sраm", "", "我 说 敏感 词"]
)
def test_what_is_documented_as_not_found_stays(text: str) -> None:
    assert apply(parse(LIST), text) == text


def test_of_words_that_overlap_nothing_shows() -> None:
    assert apply(parse(["甲乙 =>", "乙丙 => X", "甲乙丙丁 =>"]), "甲乙丙") == stars(3)
    assert apply(parse(["甲乙 =>", "甲乙丙丁 => Y"]), "甲乙丙丁") == "Y"
    assert apply(parse(["敏感词 =>"]), "敏敏感词感词") == f"敏{stars(3)}感词"


def test_an_emoji_that_holds_a_word_goes_as_a_whole() -> None:
    assert apply(parse(["\U0001f469 =>"]), f"x{FAMILY}y") == f"x{MASK}y"


def test_a_word_that_is_found_but_cannot_be_placed_is_no_reason_to_let_it_out() -> None:
    apart = "\u1112\u1161\u11ab"  # one Korean syllable in three code points, which is compared as one
    assert apply(parse(["\ud55c =>"]), apart) in (MASK, None)


@pytest.mark.parametrize("line", ["=> x", " => ", "\u200b", "** => x"])
def test_a_line_without_a_word_is_refused_by_its_number(line: str) -> None:
    if line.strip():
        with pytest.raises(ValueError, match="line 2 has no word to look for"):
            parse(["one", line])


def test_empty_lines_are_none_and_too_many_words_are_refused() -> None:
    assert [word.text for word in parse(["", "  ", "one"])] == ["one"]
    with pytest.raises(ValueError, match="2001 words are too many, 2000 are allowed"):
        parse([f"w{number}" for number in range(MOST_WORDS + 1)])


def test_a_word_spelled_out_twice_in_a_row_is_found_twice() -> None:
    assert apply(parse(["敏感词 =>"]), "敏 感 词 敏 感 词") == f"{MASK * 5} {MASK * 5}"


@given(st.text(max_size=80), st.text("敏感词 \u200b*", max_size=12))
def test_nothing_but_the_word_changes(before: str, middle: str) -> None:
    words = parse(["敏感词 =>"])
    text = before + middle
    after = apply(words, text)
    assert after is not None
    assert apply(words, after) == after
    assert "敏感词" not in after
    assert after == text or MASK in after


def test_a_long_answer_and_a_long_list_take_no_time() -> None:
    words = parse([f"word{number} =>" for number in range(MOST_WORDS)])
    started = time.thread_time()
    assert apply(words, "一二三四五六七八九十 and so on\n" * 6_000) is not None
    assert apply(words, "一二三四五六七八九十 and so on\n" * 6_000 + "word7") is not None
    assert time.thread_time() - started < 5
