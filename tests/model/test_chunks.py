"""Answers are cut into pieces that WeChat takes whole, and that read as if they had never been cut."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wechat_bridge.model.chunks import TOO_LONG, split

FAMILY = "\N{WOMAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
CHARACTERS = [
    "a", "答", "é", "e\u0301", "\N{GRINNING FACE}", FAMILY, "\N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-5}",
    "1\ufe0f\u20e3", "\N{REGIONAL INDICATOR SYMBOL LETTER D}\N{REGIONAL INDICATOR SYMBOL LETTER E}",
    "\N{REGIONAL INDICATOR SYMBOL LETTER F}\N{REGIONAL INDICATOR SYMBOL LETTER R}", "कि", "กำ", "\u1112\u1161\u11ab",
    "\N{WAVING BLACK FLAG}\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "。",
]  # fmt: skip
MANY = 10_000

words = st.lists(st.sampled_from(CHARACTERS), min_size=1, max_size=60).map("".join)
lines = st.lists(words, min_size=1, max_size=12).map(" ".join)
paragraphs = st.lists(lines, min_size=1, max_size=6).map("\n".join)
openers = st.sampled_from(["```", "```python", "~~~", "````md", "  ```sh"])


@st.composite
def code_blocks(draw: st.DrawFn) -> str:
    """A fenced block, closed as it was opened."""
    opener = draw(openers)
    body = draw(st.lists(st.sampled_from(["x = 1", "", "    return y", "z" * 90]), max_size=12))
    marker = re.match(r"[`~]+", opener.strip())
    assert marker is not None
    return "\n".join([opener, *body, marker.group()])


texts = st.lists(paragraphs | code_blocks(), min_size=1, max_size=6).map("\n\n".join)


def is_fence(line: str) -> bool:
    """Whether a line opens or closes a block of code; the texts here have such markers nowhere else."""
    return line.strip()[:3] in ("```", "~~~")


def bare(text: str) -> str:
    """What must survive any cut: everything but fence lines and whitespace."""
    return "".join("".join(line.split()) for line in text.split("\n") if not is_fence(line))


def open_fence(text: str) -> str:
    """The fence line that is open at the end of a text."""
    opener = ""
    for line in filter(is_fence, text.split("\n")):
        opener = "" if opener else line.strip()
    return opener


@settings(max_examples=40, deadline=None)
@given(texts, st.integers(40, 400), st.integers(120, 1_200))
@example("a" * 99 + FAMILY + "b", 100, 100)
def test_every_piece_is_short_enough_and_together_they_are_the_answer(
    text: str, most_characters: int, most_bytes: int
) -> None:
    pieces = split(text, most_characters, most_bytes, MANY)
    assert all(0 < len(piece) <= most_characters for piece in pieces)
    assert all(len(piece.encode()) <= most_bytes for piece in pieces)
    assert all(piece.strip() and not open_fence(piece) for piece in pieces)
    assert "".join(map(bare, pieces)) == bare(text)


@settings(deadline=None)
@given(st.lists(st.sampled_from(CHARACTERS), min_size=1, max_size=300), st.integers(32, 80))
def test_no_character_as_people_see_it_is_torn(characters: list[str], most_characters: int) -> None:
    borders, at = {0}, 0
    for character in characters:
        at += len(character)
        borders.add(at)
    at = 0
    for piece in split("".join(characters), most_characters, 4 * most_characters, MANY):
        at += len(piece)
        assert at in borders


@settings(max_examples=40, deadline=None)
@given(texts, st.integers(1, 12), st.integers(16, 60))
def test_never_more_pieces_than_may_be_sent(text: str, most_chunks: int, most_characters: int) -> None:
    pieces = split(text, most_characters, 120, most_chunks)
    assert len(pieces) <= most_chunks
    assert all(len(piece.encode()) <= 120 for piece in pieces)
    assert pieces[-1] == TOO_LONG or bare("\n".join(pieces)) == bare(text)


@settings(deadline=None)
@given(st.text(), st.integers(16, 60), st.integers(64, 200), st.integers(1, 10))
def test_whatever_an_engine_answers_can_be_stored_and_sent(
    text: str, most_characters: int, most_bytes: int, most_chunks: int
) -> None:
    for piece in split(text, most_characters, most_bytes, most_chunks):
        assert 0 < len(piece.encode()) <= most_bytes


@pytest.mark.parametrize("length", [95, 96, 97, 98, 99, 100])
def test_an_emoji_at_the_border_goes_to_the_next_piece_whole(length: int) -> None:
    pieces = split("a" * length + FAMILY + "b", 100, 100, 10)
    assert "".join(pieces) == "a" * length + FAMILY + "b"
    assert sum(FAMILY in piece for piece in pieces) == 1


def test_half_of_a_character_becomes_a_replacement_character() -> None:
    assert split("broken \ud83d here", 100, 100, 10) == ["broken \N{REPLACEMENT CHARACTER} here"]


def test_two_halves_that_belong_together_become_the_character() -> None:
    assert split("\ud83d\ude00", 100, 100, 10) == ["\N{GRINNING FACE}"]


def test_nine_thousand_characters_with_a_fence_at_a_limit_of_four_thousand() -> None:
    code = "\n".join(f"value_{number} = {number}" for number in range(540))
    text = f"Here it is.\n\n```python\n{code}\n```\n\nThat was it. " + "Really. " * 100
    assert len(text) > 9_000
    pieces = split(text, 4_000, 16_384, 10)
    assert all(len(piece) <= 4_000 for piece in pieces)
    assert [piece.count("```") for piece in pieces] == [2] * len(pieces)
    assert [piece.count("```python\n") for piece in pieces] == [1] * len(pieces)
    assert "".join(map(bare, pieces)) == bare(text)


def test_a_cut_just_before_the_end_of_a_block_leaves_no_empty_block() -> None:
    text = "```sh\n" + "x" * 40 + "\n```\n" + "after " * 9
    pieces = split(text, 52, 200, 10)
    assert pieces[0] == "```sh\n" + "x" * 40 + "\n```"
    assert pieces[1].startswith("after")


def test_cuts_prefer_paragraphs_then_lines_then_sentences_then_words() -> None:
    assert split("one two three.\n\nfour\nfive", 20, 100, 10) == ["one two three.", "four\nfive"]
    assert split("one two\nthree\nfour five", 20, 100, 10) == ["one two\nthree", "four five"]
    assert split("一二三四五六七八九十一二三。四五六七八九十一二三", 20, 100, 10)[0] == "一二三四五六七八九十一二三。"
    assert split("alpha beta gamma delta", 20, 100, 10) == ["alpha beta gamma", "delta"]


def test_chinese_text_is_limited_by_its_bytes() -> None:
    text = "答" * 6_000
    pieces = split(text, 20_000, 16_384, 10)
    assert [len(piece.encode()) <= 16_384 for piece in pieces] == [True, True]
    assert "".join(pieces) == text


def test_thirty_short_paragraphs_are_packed_into_the_send_budget() -> None:
    text = "\n\n".join(f"Paragraph {number}." for number in range(30))
    pieces = split(text, 2_000, 16_384, 10)
    assert pieces == [text]


def test_pieces_grow_up_to_the_byte_limit_before_anything_is_left_out() -> None:
    text = "word " * 6_000
    pieces = split(text, 2_000, 16_384, 10)
    assert len(pieces) == 2
    assert "".join(map(bare, pieces)) == bare(text)


def test_what_does_not_fit_into_the_budget_is_said_to_be_missing() -> None:
    pieces = split("x" * 10_000, 100, 100, 3)
    assert pieces == ["x" * 100, "x" * 100, TOO_LONG]


def test_an_enormous_answer_is_cut_in_no_time() -> None:
    assert len(split("word\n" * 200_000, 2_000, 16_384, 10)) == 10


def test_an_opener_that_would_fill_a_piece_is_repeated_without_its_language() -> None:
    text = "```" + "language" * 4 + "\n" + "code line\n" * 30 + "```"
    pieces = split(text, 40, 200, 100)
    assert all(len(piece) <= 40 for piece in pieces)
    assert pieces[2].startswith("```\n")
    assert all(not open_fence(piece) for piece in pieces[1:])


def test_a_piece_of_nothing_but_blanks_is_not_sent() -> None:
    pieces = split("a" + " " * 500 + "b", 50, 200, 100)
    assert [piece.strip() for piece in pieces] == ["a", "b"]


def test_marks_in_running_text_are_no_fences() -> None:
    text = "```one line``` and " + "more words " * 12
    assert all("\n```" not in piece for piece in split(text, 50, 200, 10))


# the label


LABEL = "（AI 生成，仅供参考）"


@settings(deadline=None)
@given(texts, st.integers(16, 200), st.integers(64, 600), st.integers(1, 12), st.sampled_from([LABEL, "AI", "x" * 60]))
def test_a_label_is_the_last_line_within_every_limit(
    text: str, most_characters: int, most_bytes: int, most_chunks: int, label: str
) -> None:
    pieces = split(text, most_characters, most_bytes, most_chunks, label)
    plain = split(text, most_characters, most_bytes, most_chunks)
    if not plain:
        assert pieces == []
        return
    assert len(pieces) <= most_chunks
    assert all(0 < len(piece.encode()) <= most_bytes for piece in pieces)
    shown = pieces[-1].rpartition("\n")[2]
    assert shown == label or (shown and label.startswith(shown) and len(label.encode()) > min(most_characters, 60))
    whole = "\n".join(pieces)
    assert TOO_LONG in whole or most_chunks == 1 or bare(whole) == bare(f"{text}\n{shown}")


@pytest.mark.parametrize("length", range(80, 102))
def test_a_label_is_counted_in_the_limit_of_its_piece(length: int) -> None:
    pieces = split("b" * length, 100, 400, 10, "AI made this")
    assert all(len(piece) <= 100 for piece in pieces)
    assert [piece.endswith("AI made this") for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    assert "".join(pieces).replace("\n\nAI made this", "") == "b" * length
    assert len(pieces) == (1 if length <= 100 - len("\n\nAI made this") else 2)


def test_a_label_survives_what_the_send_budget_cuts_off() -> None:
    pieces = split("word " * 500, 40, 100, 3, LABEL)
    assert len(pieces) == 3
    assert pieces[-1] == f"{TOO_LONG}\n\n{LABEL}"
    exact = split("b" * 297, 99, 99, 3, "AI")  # three full pieces: there is no room for a label but in place of the end
    assert exact[-1] == f"{TOO_LONG}\n\nAI"


def test_a_label_is_never_part_of_code() -> None:
    closed, opened = split("```py\nx = 1\n```", 100, 400, 10, "AI"), split("```py\nx = 1", 100, 400, 10, "AI")
    assert closed == opened == ["```py\nx = 1\n```\n\nAI"]


def test_nothing_is_not_labelled() -> None:
    assert split(" \n ", 100, 400, 10, LABEL) == []


def test_by_paragraph_only_blank_lines_part_pieces() -> None:
    code = "```python\nfirst = 1\n\nsecond = 2\n```"
    text = f"One line\nand another.\n\n\n{code}\n \nThe end."
    assert split(text, 4_000, 16_384, 10, by_paragraph=True) == ["One line\nand another.", code, "The end."]
    assert split(text, 4_000, 16_384, 10) == [text]


def test_by_paragraph_one_that_is_too_long_is_cut_and_the_label_is_below_the_last() -> None:
    pieces = split(f"short\n\n{'word ' * 30}\n\nend", 100, 400, 10, "AI", by_paragraph=True)
    assert [pieces[0], pieces[-1]] == ["short", "end\n\nAI"]
    assert " ".join(pieces[1:-1]).split() == ["word"] * 30
    assert all(len(piece) <= 100 for piece in pieces)


def test_by_paragraph_more_than_may_be_sent_are_packed() -> None:
    text = "\n\n".join(f"paragraph {number}" for number in range(12))
    assert split(text, 4_000, 16_384, 10, by_paragraph=True) == [text]
