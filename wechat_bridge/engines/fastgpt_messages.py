"""A question as FastGPT takes it: a text, or parts with links to pictures and documents; nothing can be uploaded."""

from __future__ import annotations

from typing import Any

from wechat_bridge.engines.base import Attachment, Question
from wechat_bridge.model.media import extension_of
from wechat_bridge.model.message import ItemKind

DOCUMENTS = frozenset({"txt", "md", "html", "docx", "pdf", "ppt", "pptx", "csv", "xlsx"})
"""What it reads as ``file_url``, by extension. Voices, films and other files stay markers in the text."""

Part = dict[str, Any]


def messages_of(question: Question) -> list[Part]:
    """Return the one message of a request; FastGPT knows the earlier ones."""
    parts = [part for each in question.media if each.link and (part := _part(each))]
    text = {"type": "text", "text": question.text}
    return [{"role": "user", "content": [text, *parts] if parts else question.text}]


def is_read(media: Attachment) -> bool:
    """Whether FastGPT reads this at all."""
    return _part(media) is not None


def _part(media: Attachment) -> Part | None:
    if media.kind not in (ItemKind.IMAGE, ItemKind.FILE):
        return None
    if media.mime.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": media.link}}
    extension = extension_of(media.label, media.mime)
    if extension not in DOCUMENTS:
        return None
    return {"type": "file_url", "name": media.label or f"file.{extension}", "url": media.link}
