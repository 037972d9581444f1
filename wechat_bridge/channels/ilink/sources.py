"""Where the media of a message are and how they are opened, read from the message as it came.

Addresses and keys are read when they are needed and kept nowhere else, so that nothing else can tell them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from urllib.parse import quote

from wechat_bridge.channels.ilink.crypto import Claims, key_from
from wechat_bridge.channels.ilink.items import kept_parts
from wechat_bridge.channels.ilink.lenient import as_int, as_object, clean, loads
from wechat_bridge.errors import MediaUnreadable
from wechat_bridge.model.media import Problem
from wechat_bridge.model.message import ItemKind

_LONGEST_PARAMETER = 8_192


@dataclass(frozen=True, slots=True)
class Source:
    """One piece of media on the CDN. ``url`` is where it is; ``keys`` are tried in order, the likeliest first."""

    kind: ItemKind
    url: str = field(repr=False)
    keys: tuple[bytes, ...] = field(repr=False)
    claims: Claims


def source_of(raw: str, position: int, cdn_base_url: str) -> Source:
    """Return part ``position`` of a message whose JSON text is ``raw``.

    Raises MediaUnreadable: NO_ADDRESS, or EXPIRED when the text is not kept any more.
    """
    found = next(islice(kept_parts(_item_list(raw)), position, None), None)
    if found is None:
        raise MediaUnreadable(Problem.EXPIRED)
    item, part = found
    detail = as_object(part.get(f"{item.kind.value}_item"))
    media = as_object(detail.get("media"))
    spellings = (detail.get("aeskey"), media.get("aes_key")) if item.kind is ItemKind.IMAGE else (media.get("aes_key"),)
    return Source(item.kind, _url(media, cdn_base_url), _keys(spellings), _claims(item.kind, detail))


def download_url(cdn_base_url: str, parameter: str) -> str:
    """Return where the file behind a download parameter is; parameters hold ``+``, ``/`` and ``=``."""
    return f"{cdn_base_url.rstrip('/')}/download?encrypted_query_param={quote(parameter, safe='')}"


def _item_list(raw: str) -> object:
    try:
        message = loads(raw.encode("utf-8", "replace"))
    except (json.JSONDecodeError, RecursionError):
        return None
    return as_object(message).get("item_list")


def _url(media: dict[str, Any], cdn_base_url: str) -> str:
    full_url = clean(media.get("full_url")).strip()
    parameter = clean(media.get("encrypt_query_param")).strip()
    if full_url:
        return full_url
    if not parameter or len(parameter) > _LONGEST_PARAMETER:
        raise MediaUnreadable(Problem.NO_ADDRESS)
    return download_url(cdn_base_url, parameter)


def _keys(spellings: Iterable[object]) -> tuple[bytes, ...]:
    keys = (key_from(spelled) for spelled in spellings)
    return tuple(dict.fromkeys(key for key in keys if key is not None))


def _claims(kind: ItemKind, detail: dict[str, Any]) -> Claims:
    """Only documents arrive as they were sent: pictures and films are compressed anew on the way (issue 241)."""
    if kind is not ItemKind.FILE:
        return Claims()
    return Claims(as_int(detail.get("len")), clean(detail.get("md5")).strip().lower())
