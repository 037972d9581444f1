"""What a channel demands of an answer: which rules can be, and what they make of a text."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from wechat_bridge.model.outgoing import CheckResult, OutgoingRules, by_words
from wechat_bridge.model.platform import WECOM


def test_without_words_an_answer_is_as_it_was_and_no_check_is_recorded() -> None:
    said = by_words(OutgoingRules(label="AI"), "any text")
    assert (said.text, said.label, said.record) == ("any text", "AI", None)


@pytest.mark.parametrize(
    ("text", "shown", "result"),
    [
        ("*nothing* here", "*nothing* here", CheckResult.PASSED),
        ("a bad one", "a good one", CheckResult.REPLACED),
        ("the worst", "No.", CheckResult.REFUSED),
    ],
)
def test_words_let_pass_replace_or_refuse(text: str, shown: str, result: CheckResult) -> None:
    said = by_words(OutgoingRules(words=("bad => good", "worst"), refusal="No.", label="AI"), text)
    assert said.record is not None
    assert (said.text, said.record.result, said.record.by) == (shown, result, "words")
    assert said.label == ("" if said.is_refused else "AI")


def test_words_are_found_in_what_wechat_shows() -> None:
    assert by_words(OutgoingRules(words=("敏感词 =>",)), "*敏感*词").text == "＊＊＊"


def test_words_that_signs_part_are_found_where_signs_are_not_shown() -> None:
    rules = OutgoingRules(words=("敏感词 =>",))
    assert by_words(rules, "**敏感**`词`", WECOM.read).text == "＊＊＊"
    assert by_words(rules, "**安全**", WECOM.read).text == "**安全**"


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"check_url": "ftp://x"}, "should be https"),
        ({"check_url": "https://user:secret@host/"}, "without user and password"),
        ({"label": "one\ntwo"}, "should be one line"),
        ({"label": "x" * 61}, "at most 60"),
        ({"words": ("=> x",)}, "line 1 has no word"),
    ],
)
def test_rules_that_cannot_be_are_refused_with_a_reason(fields: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        OutgoingRules(**fields)


def test_the_secret_is_in_no_text_of_the_rules() -> None:
    assert "gAAA" not in repr(OutgoingRules(sealed_check_secret="gAAAsealed"))
