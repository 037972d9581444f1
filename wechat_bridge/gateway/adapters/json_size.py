"""How large the values of a JSON text will be, told before they are made."""

from __future__ import annotations

import re

from wechat_bridge.gateway.adapters.limits import too_deep, too_many
from wechat_bridge.model.event_rules import Limits

_MARK = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]\s*+(?=[\]}])|[\[{,]|[\]}]', re.DOTALL)
"""A text, which hides what is in it; the beginning of something empty; the beginning of another value; an end."""


def check_size(text: str, limits: Limits) -> None:
    """Raises PayloadTooLarge for a text with more values, or more levels, than allowed.

    Most events are so small that counting marks, wherever they stand, is enough.
    """
    opened = text.count("{") + text.count("[")
    if opened > limits.most_depth or opened + text.count(",") >= limits.most_nodes:
        _scan(text, limits)


def _scan(text: str, limits: Limits) -> None:
    depth, nodes = 0, 1
    for found in _MARK.finditer(text):
        mark = found[0]
        if mark[0] == '"':
            continue
        if mark[0] in "[{":
            depth += 1
        elif mark[0] in "]}":
            depth -= 1
        nodes += mark in {"[", "{", ","} and not _is_empty(mark, found, text)
        if depth > limits.most_depth:
            raise too_deep(limits)
        if nodes > limits.most_nodes:
            raise too_many(limits)


def _is_empty(mark: str, found: re.Match[str], text: str) -> bool:
    return mark != "," and text[found.end() : found.end() + 1] in {"]", "}"}
