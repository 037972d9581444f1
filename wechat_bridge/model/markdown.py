"""Simplify Markdown to what WeChat's client renders, and leave everything else as the engine wrote it.

Source: the filter in Tencent's own client (``openclaw-weixin`` 2.4.9). The client renders code fences, inline code,
tables, rules, bold, headings H1 to H4, lists, quotes, and italics of text without Chinese, Japanese or Korean.

Why not ``markdown-it-py``, which is installed with rich: its inline tokens carry no place in the source, so a text can
only be written anew from them, which changes what should stay; and 400,000 characters of ``![`` take it 16 s. What is
here never writes anything anew. It collects edits, mostly deletions, and what no edit names stays byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto

from wechat_bridge.model.fences import Fence, closes, fence_line
from wechat_bridge.model.markdown_inline import QUOTE, Inline

_MOST_PASSES = 6

_LINE_STARTS = re.compile(r"(?<=\n)")
_CONTAINERS = re.compile(r"(?:[ \t]*+(?:>|[-+*][ \t]|[0-9]{1,9}[.)][ \t]))*+")
_ITEM = re.compile(r"[ \t]*+(?:[-+*]|[0-9]{1,9}[.)])(?:\s|$)")
_ALONE = re.compile(r"[ \t]*+(?:[>|]|#{1,6}[ \t])")
_MINOR_HEADING = re.compile(
    rf"(?P<place>{_CONTAINERS.pattern}[ \t]*+)(?:#{{5,6}}[ \t]++)+(?P<text>(?![-=*_ \t\r]*+(?:\n|\Z)).++)", re.DOTALL
)
_CLOSING_HASHES = re.compile(r"(?<=\S)[ \t]++#{5,6}(?=\s*+$)")


def for_wechat(text: str) -> str:
    """Return ``text`` with the Markdown that WeChat does not render simplified.

    Dropped: markers of italics around CJK text (``***both***`` stays bold), of H5 and H6, images but for ``[alt]``,
    comments, and backslashes that nothing needs. ``[text](url)`` becomes ``text (url)``, ``<url>`` and links that show
    their url become the url, ``<br>`` becomes a line break (in a table a space). Code is never touched; what is not
    closed, a link without an address, and other tags stay. The result is never longer than ``text``.

    A result is simplified again until nothing changes, so doing it twice is the same as once; the rare text that does
    not come to rest stays as it is. Takes any string, raises nothing, in time linear in the length.
    """
    simple = text
    for _ in range(_MOST_PASSES):
        read = [_simplified(part) if kind is Part.PARAGRAPH else part for kind, part in parts(simple)]
        before, simple = simple, "".join(read)
        if simple == before:
            return simple
    return text


class Part(Enum):
    """What a part of a text is."""

    PARAGRAPH = auto()  # within it markers belong together
    FENCE = auto()  # a line that opens or closes a code fence
    KEPT = auto()  # a line of code, or a blank one


def parts(text: str) -> Iterator[tuple[Part, str]]:
    """Yield the parts of a text, which together are the text."""
    reader, paragraph, is_closed = _Reader(), list[str](), True
    for line in _LINE_STARTS.split(text):
        kind, is_alone = reader.kind_of(line), _ALONE.match(line) is not None
        if paragraph and (kind is not Part.PARAGRAPH or is_alone or is_closed or _ITEM.match(line)):
            yield Part.PARAGRAPH, "".join(paragraph)
            paragraph = []
        if kind is Part.PARAGRAPH:
            paragraph.append(line)
        else:
            yield kind, line
        is_closed = is_alone
    yield Part.PARAGRAPH, "".join(paragraph)


class _Reader:
    """Follows a text line by line and knows which lines are code: in fences, or indented outside lists."""

    def __init__(self) -> None:
        self._fence: Fence | None = None
        self._is_quoted = self._is_list = False
        self._may_indent = True

    def kind_of(self, line: str) -> Part:
        """Return what a line is, the next one of the text."""
        bare, is_quoted = line.removesuffix("\n"), QUOTE.match(line) is not None
        if self._is_quoted and not is_quoted:
            self._fence = None  # a fence ends with the quote it stands in
        if self._fence is not None:
            if not closes(bare.lstrip("> \t") if self._is_quoted else bare, self._fence):
                return Part.KEPT
            self._fence = None
            return Part.FENCE
        self._fence, self._is_quoted = fence_line(_CONTAINERS.sub("", bare, count=1)), is_quoted
        if self._fence is not None:
            return Part.FENCE
        return Part.KEPT if self._is_indented_or_blank(line) else Part.PARAGRAPH

    def _is_indented_or_blank(self, line: str) -> bool:
        if not line.strip():
            self._may_indent = True
            return True
        if _ITEM.match(line):
            self._is_list = True
        elif self._may_indent and not line[0].isspace():
            self._is_list = False
        self._may_indent = self._may_indent and not self._is_list and line.startswith(("    ", "\t"))
        return self._may_indent


def _simplified(paragraph: str) -> str:
    """Return a paragraph simplified; as it is where that would begin a code fence, which swallows what follows."""
    heading = _MINOR_HEADING.match(paragraph)
    simple = heading["place"] + _CLOSING_HASHES.sub("", heading["text"]) if heading else paragraph
    simple = Inline(simple).simplified()
    return paragraph if any(map(fence_line, simple.split("\n"))) else simple
