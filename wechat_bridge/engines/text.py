"""What of an engine's words a person gets to read."""

from __future__ import annotations

import re

from wechat_bridge.engines.base import Answer
from wechat_bridge.engines.failures import Failures
from wechat_bridge.model.characters import without_lone_surrogates

SILENCE = "[SKIP]"
"""As the whole answer it means: send nothing."""

MOST_CHARACTERS = 500_000
"""A hundred times what WeChat lets through for one message; more is a fault, and would not fit into the ledger."""

_OPENS = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
_CLOSES = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_FENCE = re.compile(r"\s*(```|~~~)")


def without_reasoning(text: str) -> str:
    """Return ``text`` without its ``<think>`` blocks; those inside code are somebody's example and stay.

    A block that never ends goes to the end of the text. One that never begins, as some servers put its start into the
    prompt, begins with the text.
    """
    kept: list[str] = []
    is_thinking = in_code = False
    for line in text.splitlines(keepends=True):
        rest = line
        if not is_thinking and _FENCE.match(rest):
            in_code = not in_code
        if not in_code and not is_thinking and (opened := _OPENS.match(rest)):
            is_thinking, rest = True, rest[opened.end() :]
        if is_thinking and (closed := _CLOSES.search(rest)):
            is_thinking, rest = False, rest[closed.end() :]
        elif not in_code and not is_thinking and (closed := _CLOSES.match(rest.lstrip())):
            kept, rest = [], rest.lstrip()[closed.end() :]
        if not is_thinking:
            kept.append(rest)
    return "".join(kept)


def spoken(text: str, failures: Failures) -> str | None:
    """Return what a person gets to read, "" for silence on purpose, or None when nothing was said.

    Raises EngineRefused when it is too long to be an answer.
    """
    said = without_reasoning(without_lone_surrogates(text)).strip()
    if said == SILENCE:
        return ""
    if len(said) > MOST_CHARACTERS:
        raise failures.refused(f"the answer has {len(said)} characters, {MOST_CHARACTERS} are allowed")
    return said or None


def finished(answer: Answer, failures: Failures) -> Answer:
    """Return the answer with its text as a person gets to read it.

    Raises EngineUnavailable when it says nothing, EngineRefused when it says nothing for a reason that will be the same
    next time, or too much.
    """
    text = spoken(answer.text, failures)
    if text is not None or answer.files:
        return Answer(
            text or "", answer.model, answer.prompt_tokens, answer.completion_tokens, answer.finish_reason,
            answer.files, answer.engine_conversation,
        )  # fmt: skip
    reason = {
        "content_filter": "its content filter withheld the answer",
        "tool_calls": "it wants to call tools, which nobody runs here; take them out of its configuration",
        "function_call": "it wants to call a function, which nobody runs here; take it out of its configuration",
        "length": "it used up its tokens before it said anything; allow it more",
    }.get(answer.finish_reason)
    raise failures.refused(reason) if reason else failures.unavailable("the answer is empty")
