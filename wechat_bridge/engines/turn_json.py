"""A turn as JSON for engines of one's own (webhook, task), and their answers.

::

    out  {"turn_id", "share_id", "chat_id", "user_id", "text", "history": [{"question", "answer"}],
          "media": [{"kind", "mime", "size", "label", "data": base64, or null when it would be too much,
                     "url": where to fetch it for a time, or null without PUBLIC_BASE_URL}]}
    in   {"text" or "markdown": "...", "files": [{"label", "mime", "data": base64}]}, or {"skip": true}
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from wechat_bridge.engines.base import Answer, AnswerFile, Attachment, Question
from wechat_bridge.engines.failures import Failures
from wechat_bridge.engines.text import finished
from wechat_bridge.model.message import ItemKind

SHOWN_AS = {"image": ItemKind.IMAGE, "video": ItemKind.VIDEO}
DEFAULT_MIME = "application/octet-stream"


def turn_json(question: Question, most_media_bytes: int) -> dict[str, Any]:
    """Return a turn as JSON. Raises LedgerUnavailable when its media cannot be read now."""
    left = most_media_bytes
    media: list[dict[str, Any]] = []
    for each in question.media:
        fits = each.size <= left
        left -= each.size if fits else 0
        media.append(_media(each, fits))
    return {
        "turn_id": question.turn_id,
        "share_id": question.share_id,
        "chat_id": question.chat_id,
        "user_id": question.user_id,
        "text": question.text,
        "history": [{"question": each.question, "answer": each.answer} for each in question.history],
        "media": media,
    }


def answer_of(value: Any, failures: Failures, model: str = "") -> Answer:
    """Return the answer that such an engine gave: an object, a text, or None for silence.

    Raises EngineUnavailable and EngineRefused.
    """
    if value is None or (isinstance(value, Mapping) and value.get("skip") is True):
        return Answer("", model=model, finish_reason="skip")
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, Mapping):
        raise failures.refused("the answer should be a JSON object with a text")
    if error := value.get("error"):
        raise failures.of_error(error)
    text = value.get("text", value.get("markdown"))
    if not isinstance(text, str | None):
        raise failures.refused("the text of the answer should be a text")
    return finished(Answer(text or "", model=model, finish_reason="stop", files=_files(value, failures)), failures)


def _media(media: Attachment, fits: bool) -> dict[str, Any]:
    data = base64.b64encode(media.read()).decode() if fits else None
    return {
        "kind": media.kind.value,
        "mime": media.mime,
        "size": media.size,
        "label": media.label,
        "data": data,
        "url": media.link or None,
    }


def _files(value: Mapping[str, Any], failures: Failures) -> tuple[AnswerFile, ...]:
    rows = value.get("files") or []
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise failures.refused("the files of the answer should be a list of objects")
    return tuple(_file(row, failures) for row in rows)


def _file(row: Mapping[str, Any], failures: Failures) -> AnswerFile:
    label, mime, data = row.get("label") or "", row.get("mime") or DEFAULT_MIME, row.get("data")
    if not (isinstance(label, str) and isinstance(mime, str) and isinstance(data, str)):
        raise failures.refused("a file of the answer should have texts as label, mime and data (base64)")
    try:
        decoded = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise failures.refused("the data of a file of the answer is no base64") from None
    return AnswerFile(SHOWN_AS.get(mime.partition("/")[0], ItemKind.FILE), label, mime, decoded)
