"""What of an engine's words a person gets to read."""

from __future__ import annotations

import pytest

from wechat_bridge.engines.text import without_reasoning


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("plain", "plain"),
        ("<think>a\nb</think>c", "c"),
        ("\n <think>a</think>\n\nc\nd", "\n\n\nc\nd"),
        ("<THINKING>a</Thinking>c", "c"),
        ("one\n<think>\nx\n</think>\ntwo", "one\n\ntwo"),
        ("<think>never ends\nat all", ""),
        ("began in the prompt\n</think>\n\nanswer", "\n\nanswer"),
        ("```xml\n<think>example</think>\n```\nas above", "```xml\n<think>example</think>\n```\nas above"),
        ("<think>\n```\ncode\n</think>\nanswer", "\nanswer"),
        ("write <think> to think", "write <think> to think"),
        ("a < b </thinker>", "a < b </thinker>"),
    ],
)
def test_thoughts_are_left_out_and_examples_stay(said: str, read: str) -> None:
    assert without_reasoning(said) == read
