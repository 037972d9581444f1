"""Markdown as plain text, for platforms that show its signs as they are written."""

from __future__ import annotations

import re

from wechat_bridge.model.markdown import Part, for_wechat, parts
from wechat_bridge.model.markdown_inline import Inline

_ESCAPED = frozenset("*_`#>~|")
"""Signs before which a backslash goes; before others it may be part of a path or of a formula."""

_HEADING = re.compile(r"(?P<place>[> \t]*+)#{1,6}[ \t]++(?P<text>.*\S.*)", re.DOTALL)
_CLOSING_HASHES = re.compile(r"(?<=\S)[ \t]++#+(?=\s*+\Z)")
_RULE = re.compile(r"^[ \t]*+([*_])(?:[ \t]*+\1){2,}+[ \t]*+(?=\r?$)", re.MULTILINE)
_BULLET = re.compile(r"^([> \t]*+)[*+](?=[ \t])", re.MULTILINE)
_ROW = re.compile(r"[ \t]*+\|(?P<cells>.*)\|(?P<end>\s*+)", re.DOTALL)
_COLUMN = re.compile(r"(?<!\\)\|")
_NAME = re.compile(r"__\w++(?<=__)", re.ASCII)
"""A name like ``__init__``, which engines write more often than bold of this kind."""

_DIVIDER = re.compile(r":?-+:?")


def for_plain(text: str) -> str:
    """Return ``text`` as it reads without Markdown, in time linear in its length.

    Of bold, italics, headings, code spans and fences only the content stays, code as it is; rows of tables become their
    cells between bars; bullets and rules are dashes. Links, images and the like are as in ``for_wechat``. Quotes,
    numbers, and everything that is no Markdown stay. Never nothing where there was something.
    """
    shown = "".join(_shown(kind, part) for kind, part in parts(for_wechat(text)))
    return shown if shown.strip() else text


def _shown(kind: Part, part: str) -> str:
    if kind is Part.PARAGRAPH:
        return _paragraph(part)
    return part if kind is Part.KEPT else ""


def _paragraph(text: str) -> str:
    if row := _ROW.fullmatch(text):
        return _row(_COLUMN.split(row["cells"]), row["end"])
    if heading := _HEADING.fullmatch(text):
        text = heading["place"] + _CLOSING_HASHES.sub("", heading["text"])
    return _Plain(_BULLET.sub(r"\1-", _RULE.sub("---", text))).simplified()


def _row(cells: list[str], end: str) -> str:
    cells = [cell.strip() for cell in cells]
    if all(map(_DIVIDER.fullmatch, cells)):
        return ""
    return " | ".join(_Plain(cell).simplified() for cell in cells) + end


class _Plain(Inline):
    """A paragraph of which no marker stays."""

    def _is_dropped(self, size: int, start: int, end: int) -> bool:
        is_name = _NAME.fullmatch(self._text, start, end + size)
        return is_name is None

    def _span(self, start: int, end: int, closed: int) -> None:
        self._edit(start, end)
        self._edit(closed, closed + end - start)

    def _backslash(self, start: int, end: int, kind: str) -> None:
        if kind == "needless" or self._text[end - 1] in _ESCAPED:
            self._edit(start, start + 1)
