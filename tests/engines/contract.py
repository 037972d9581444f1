"""To which engines the parts of the contract apply. Every gap has a reason."""

from __future__ import annotations

from collections.abc import Mapping

ECHO = (
    "test_two_questions_in_a_row_get_their_own_answers",
    "test_many_people_at_once_get_each_their_own_answer",
)
"""All of the contract that ``echo`` can break: it asks nobody, so nothing it depends on can fail, be slow or be odd."""

_NO_HTTP = "a task returns a value of Python or raises; HTTP is between it and whoever it asks"
_NO_KEY = "it has no key: the address of Redis, which has one, is nowhere in it"
_NO_FINISH_REASON = "its protocol has no reason why an answer ended: one without a text is an empty one"
_OWN_TOOLS = "it runs its tools itself and never hands a call of one out"
_FILTERED = "test_an_answer_that_a_content_filter_withheld_is_given_up"
_TOOLS = "test_calls_of_tools_without_a_text_are_given_up"

DOES_NOT_APPLY: Mapping[str, Mapping[str, str]] = {
    "fastgpt": {_TOOLS: _OWN_TOOLS},
    "dify": {_FILTERED: _NO_FINISH_REASON, _TOOLS: _OWN_TOOLS},
    "webhook": {_FILTERED: _NO_FINISH_REASON, _TOOLS: _OWN_TOOLS},
    "task": {
        _FILTERED: _NO_FINISH_REASON,
        _TOOLS: _OWN_TOOLS,
        "test_the_pause_an_engine_asks_for_is_kept_within_reason": "of what a task raises, Celery keeps only the text",
        "test_a_redirect_is_not_followed": _NO_HTTP,
        "test_something_other_than_the_protocol_may_pass": _NO_HTTP,
        "test_an_answer_cut_off_is_no_answer": _NO_HTTP,
        "test_bytes_that_are_no_utf8_cost_no_more_than_themselves": _NO_HTTP,
        "test_nobody_listening_may_pass": "a queue that nobody reads is a deadline: tests/tasks/test_engine_calls.py",
        "test_an_engine_that_is_printed_shows_no_key": _NO_KEY,
    },
}


def applies(test: str, kind: str) -> bool:
    """Whether an engine of this kind has to pass a test of the contract."""
    return test in ECHO if kind == "echo" else test not in DOES_NOT_APPLY.get(kind, {})
