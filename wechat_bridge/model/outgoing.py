"""What a channel demands of an answer before it goes out, and the record of what came of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field, field_validator

from wechat_bridge.model import word_list
from wechat_bridge.model.engine import URL_PATTERN
from wechat_bridge.model.markdown import for_wechat

REFUSAL = "抱歉，这个问题我不方便回答。"
MOST_LABEL_CHARACTERS = 60


class CheckResult(StrEnum):
    """What the outgoing check said of an answer."""

    PASSED = "passed"  # it went out as the engine gave it
    REPLACED = "replaced"  # words or the whole were replaced
    REFUSED = "refused"  # the person got the channel's refusal, or nothing


class CheckRecord(BaseModel):
    """What the check said, and which part of it: ``words``, ``webhook``, or both."""

    model_config = ConfigDict(frozen=True)

    result: CheckResult
    by: str


class OutgoingRules(BaseModel):
    """The outgoing check and the label of a channel.

    ``words`` are the lines of a word list, see ``word_list``. ``check_url`` gets each answer, signed with the secret
    that is kept encrypted in ``sealed_check_secret``. ``label`` is the last line of each answer, "" for none.
    ``refusal`` is what a person reads in place of a refused answer, "" for nothing.
    """

    model_config = ConfigDict(frozen=True)

    words: tuple[str, ...] = ()
    check_url: str = ""
    sealed_check_secret: str = Field(default="", repr=False)
    label: str = Field(default="", max_length=MOST_LABEL_CHARACTERS)
    refusal: str = Field(default=REFUSAL, max_length=500)

    @field_validator("words")
    @classmethod
    def _readable(cls, lines: tuple[str, ...]) -> tuple[str, ...]:
        kept = tuple(line.strip() for line in lines if line.strip())
        word_list.parsed(kept)
        return kept

    @field_validator("check_url")
    @classmethod
    def _reachable(cls, url: str) -> str:
        if url and not re.match(URL_PATTERN, url):
            raise ValueError("should be https://, or http://, and a host, without user and password")
        return url

    @field_validator("label", "refusal")
    @classmethod
    def _stripped(cls, text: str) -> str:
        return text.strip()

    @field_validator("label")
    @classmethod
    def _one_line(cls, label: str) -> str:
        if len(label.splitlines()) > 1:
            raise ValueError("should be one line")
        return label


class Said(BaseModel):
    """What may go out in place of an answer: ``text`` ("" is nothing), the ``label`` below it, and the record."""

    model_config = ConfigDict(frozen=True)

    text: str
    label: str = ""
    record: CheckRecord | None = None

    @property
    def is_refused(self) -> bool:
        """Whether the answer stays unsaid."""
        return self.record is not None and self.record.result is CheckResult.REFUSED


def refused(rules: OutgoingRules, by: str) -> Said:
    """Return what is said in place of a refused answer; it is the bridge's own, so it has no label."""
    return Said(text=rules.refusal, record=CheckRecord(result=CheckResult.REFUSED, by=by))


def by_words(rules: OutgoingRules, text: str, read: Callable[[str], str] = for_wechat) -> Said:
    """Check an answer, as people will ``read`` it, against the words of a channel."""
    if not rules.words or not text.strip():
        return Said(text=text, label=rules.label)
    shown = read(text)
    allowed = word_list.apply(word_list.parsed(rules.words), shown)
    if allowed is None:
        return refused(rules, "words")
    result = CheckResult.PASSED if allowed == shown else CheckResult.REPLACED
    kept = text if allowed == shown else allowed
    return Said(text=kept, label=rules.label, record=CheckRecord(result=result, by="words"))
