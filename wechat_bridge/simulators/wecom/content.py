"""The content of a message to send: what is refused, and what of it a person sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.codes import ApiError

MOST_TEXT_BYTES = 2_048
MOST_ARTICLES = 8
CARD_TYPES = {"text_notice", "news_notice", "button_interaction", "vote_interaction", "multiple_interaction"}
# These lead somewhere when they are touched, so that card_action may not be missing.
LINK_CARDS = {"text_notice", "news_notice"}
INTERACTIVE_CARDS = CARD_TYPES - LINK_CARDS
MEDIA_TYPES = {"image", "voice", "video", "file"}


def seen_content(body: Json, over_long_text: str, check_media: Callable[[str, object], object]) -> tuple[str, Json]:
    """The text and the content object as they appear on a screen.

    `check_media(kind, media_id)` raises for a file that is not there.

    Raises:
        ApiError: the type is unknown (40008), or its content is missing, too long or incomplete.
    """
    msgtype = body.get("msgtype")
    if not isinstance(msgtype, str):
        raise ApiError(40008)
    content = body.get(msgtype)
    if msgtype in {"text", "markdown"}:
        return _text(content, over_long_text)
    if msgtype in MEDIA_TYPES:
        content = _object(content, 40007)
        check_media(msgtype, content.get("media_id"))
        return "", content
    if msgtype in {"news", "mpnews"}:
        return _news(_object(content, 45008))
    if msgtype == "textcard":
        return _textcard(_object(content, 41016))
    if msgtype == "template_card":
        return _template_card(_object(content, 40058))
    raise ApiError(40008)


def seen_menu(content: object) -> tuple[str, Json]:
    """The text and the content of a menu message.

    Raises:
        ApiError: 40058, it is no object.
    """
    if not isinstance(content, dict):
        raise ApiError(40058, "msgmenu")
    menu = content.get("list")
    items = [item.get("click") for item in menu if isinstance(item, dict)] if isinstance(menu, list) else []
    lines = [content.get("head_content"), *(item.get("content") for item in items if isinstance(item, dict))]
    return "\n".join(str(line) for line in [*lines, content.get("tail_content")] if line), content


def cut_text(text: str, over_long_text: str) -> str:
    """Text as it is shown: at most 2,048 bytes, no character torn."""
    data = text.encode("utf-8", "replace")
    if len(data) > MOST_TEXT_BYTES and over_long_text == "refuse":
        raise ApiError(45002)
    return data[:MOST_TEXT_BYTES].decode("utf-8", "ignore")


def _text(content: object, over_long_text: str) -> tuple[str, Json]:
    content = _object(content, 44004)
    text = content.get("content")
    if not isinstance(text, str) or not text:
        raise ApiError(44004)
    shown = cut_text(text, over_long_text)
    return shown, {"content": shown}


def _news(content: Json) -> tuple[str, Json]:
    articles = content.get("articles")
    if not isinstance(articles, list) or not 1 <= len(articles) <= MOST_ARTICLES:
        raise ApiError(45008)
    titles = [article.get("title") for article in articles if isinstance(article, dict)]
    if len(titles) < len(articles) or not all(titles):
        raise ApiError(41016)
    return "\n".join(map(str, titles)), content


def _textcard(content: Json) -> tuple[str, Json]:
    for name, errcode in (("title", 41016), ("description", 41033), ("url", 40058)):
        if not content.get(name):
            raise ApiError(errcode)
    return f"{content['title']}\n{content['description']}", content


def _template_card(content: Json) -> tuple[str, Json]:
    card_type = content.get("card_type")
    if not isinstance(card_type, str) or card_type not in CARD_TYPES:
        raise ApiError(40058, "template_card.card_type")
    if card_type in LINK_CARDS and _object(content.get("card_action") or {}, 42045).get("type") not in (1, 2):
        raise ApiError(42045)
    title: Any = content.get("main_title") or {}
    return str(title.get("title", "")) if isinstance(title, dict) else "", content


def _object(value: object, errcode: int) -> Json:
    if not isinstance(value, dict):
        raise ApiError(errcode)
    return value
