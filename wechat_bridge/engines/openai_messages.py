"""The messages of a chat completion: system prompt, as much history as fits, and the question with its pictures."""

from __future__ import annotations

import base64
from typing import Any

from wechat_bridge.engines.base import Attachment, Question, Round
from wechat_bridge.model.engine import OpenAiEngineSettings
from wechat_bridge.model.message import ItemKind

MOST_PICTURES = 10
MOST_PICTURE_BYTES = 10 * 1024 * 1024
"""What most servers take inline; a larger picture goes as a link, and without one stays a marker in the text."""

Message = dict[str, Any]


def messages_of(settings: OpenAiEngineSettings, question: Question) -> list[Message]:
    """Return the messages of a request. Raises LedgerUnavailable when a picture cannot be read now."""
    system = [{"role": "system", "content": settings.system_prompt}] if settings.system_prompt else []
    rounds = fitting(question.history, settings.history_turns, settings.history_tokens)
    return [*system, *(message for each in rounds for message in _said(each)), _asked(settings, question)]


def needs_link(settings: OpenAiEngineSettings, media: Attachment) -> bool:
    """Whether a picture goes along as a link only: because that is how it is set up, or because it is too large."""
    is_inline = settings.pictures == "inline" and media.size <= MOST_PICTURE_BYTES
    return settings.vision and _is_picture(media) and not is_inline


def fitting(history: tuple[Round, ...], most_turns: int, most_tokens: int) -> list[Round]:
    """Return the latest rounds that fit, oldest first; none is cut in two."""
    kept: list[Round] = []
    left = most_tokens
    for each in reversed(history[-most_turns:] if most_turns else ()):
        left -= tokens(each.question) + tokens(each.answer)
        if left < 0:
            break
        kept.append(each)
    return kept[::-1]


def tokens(text: str) -> int:
    """Return about how many tokens a text is, rather too many: one for a Chinese character or three Latin letters."""
    return len(text.encode("utf-8", "replace")) // 3 + 4


def _said(each: Round) -> list[Message]:
    return [{"role": "user", "content": each.question}, {"role": "assistant", "content": each.answer}]


def _asked(settings: OpenAiEngineSettings, question: Question) -> Message:
    shown = [each for each in question.media if _is_picture(each) and (each.link or not needs_link(settings, each))]
    if not (settings.vision and shown):
        return {"role": "user", "content": question.text}
    pictures = [_picture(each, needs_link(settings, each)) for each in shown[:MOST_PICTURES]]
    return {"role": "user", "content": [{"type": "text", "text": question.text}, *pictures]}


def _is_picture(media: Attachment) -> bool:
    return media.kind is ItemKind.IMAGE and media.mime.startswith("image/")


def _picture(media: Attachment, by_link: bool) -> Message:
    url = media.link if by_link else f"data:{media.mime};base64,{base64.b64encode(media.read()).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}
