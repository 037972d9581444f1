"""Simplify Markdown to what WeChat's client renders, and leave everything else as the engine wrote it.

Source: the filter in Tencent's own client (``openclaw-weixin`` 2.4.9). The client renders code fences, inline code,
tables, rules, bold, headings H1 to H4, lists, quotes, and italics of text without Chinese, Japanese or Korean.

Why not ``markdown-it-py``, which is installed with rich: its inline tokens carry no place in the source, so a text can
only be written anew from them, which changes what should stay; and 400,000 characters of ``![`` take it 16 s. What is
here never writes anything anew. It collects edits, mostly deletions, and what no edit names stays byte for byte.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from wechat_bridge.model.fences import Fence, closes, fence_line

_MOST_PASSES = 6
_MOST_OPENERS = 16  # how far back an italic's beginning is looked for: bounds the time that hostile texts take

_LINE_STARTS = re.compile(r"(?<=\n)")
_QUOTE = re.compile(r"[ \t]*+>[> \t]*+")
_CONTAINERS = re.compile(r"(?:[ \t]*+(?:>|[-+*][ \t]|[0-9]{1,9}[.)][ \t]))*+")
_ITEM = re.compile(r"[ \t]*+(?:[-+*]|[0-9]{1,9}[.)])(?:\s|$)")
_ALONE = re.compile(r"[ \t]*+(?:[>|]|#{1,6}[ \t])")
_TABLE_ROW = re.compile(r"[ \t]*+\|")
_MINOR_HEADING = re.compile(
    rf"(?P<place>{_CONTAINERS.pattern}[ \t]*+)(?:#{{5,6}}[ \t]++)+(?P<text>(?![-=*_ \t\r]*+(?:\n|\Z)).++)", re.DOTALL
)
_CLOSING_HASHES = re.compile(r"(?<=\S)[ \t]++#{5,6}(?=\s*+$)")

_CJK = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_TICKS = re.compile(r"`+")
_TOKEN = re.compile(
    r"(?P<needless>(?<=[^\W_0-9])\\[.!+#-](?=\s|\Z|[^\x00-\x7f])|(?<=[0-9])\\[.+-](?=[0-9]))"
    r"|(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<code>`++)"
    r"|(?P<url>(?:https?|ftp)://[^\s<>()\[\]*`\\\"，。；：！？、（）】》”’]*+)"
    r"|(?P<comment><!--)"
    r"|(?P<br></?br[ \t]*+/?>)"
    r"|(?P<auto><(?:[a-z][a-z0-9+.-]{1,30}://|mailto:|tel:)[^\s<>]++>)"
    r"|(?P<open>!?\[)|(?P<close>\])|(?P<mark>\*++|_++)|(?P<newline>\n)",
    re.IGNORECASE,
)
_TARGET = re.compile(
    r"\(\s*+(?:<(?P<angle>[^<>\n]*+)>|(?P<plain>(?:[^\s()<]++|\([^\s()]*+\))*+))"
    r"(?:\s++(?:\"[^\"]*+\"|'[^']*+'))?+\s*+\)"
)
_PICTURE = re.compile(r"\([^()\n]*+\)")
_LINE_END = re.compile(r"[ \t]*+\r?\n")


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
        before, simple = simple, "".join(part if is_code else _simplified(part) for is_code, part in _parts(simple))
        if simple == before:
            return simple
    return text


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """Yield lines that stay as they are, and paragraphs, within which markers belong together; True for the former."""
    reader, paragraph, is_closed = _Reader(), list[str](), True
    for line in _LINE_STARTS.split(text):
        stays, is_alone = reader.stays(line), _ALONE.match(line) is not None
        if paragraph and (stays or is_alone or is_closed or _ITEM.match(line)):
            yield False, "".join(paragraph)
            paragraph = []
        if stays:
            yield True, line
        else:
            paragraph.append(line)
        is_closed = is_alone
    yield False, "".join(paragraph)


class _Reader:
    """Follows a text line by line and knows which lines are code: in fences, or indented outside lists."""

    def __init__(self) -> None:
        self._fence: Fence | None = None
        self._is_quoted = self._is_list = False
        self._may_indent = True

    def stays(self, line: str) -> bool:
        """Whether a line, the next one of the text, is code, a line that opens or closes a fence, or blank."""
        bare, is_quoted = line.removesuffix("\n"), _QUOTE.match(line) is not None
        if self._is_quoted and not is_quoted:
            self._fence = None  # a fence ends with the quote it stands in
        if self._fence is not None:
            if closes(bare.lstrip("> \t") if self._is_quoted else bare, self._fence):
                self._fence = None
            return True
        self._fence, self._is_quoted = fence_line(_CONTAINERS.sub("", bare, count=1)), is_quoted
        return self._fence is not None or self._is_indented_or_blank(line)

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
    simple = _Inline(simple).simplified()
    return paragraph if any(map(fence_line, simple.split("\n"))) else simple


@dataclass
class _Run:
    """Asterisks or underscores that have not found their counterpart: a place in the text, shrinking as they do."""

    start: int
    end: int
    length: int
    opens: bool
    closes: bool

    def matches(self, closer: _Run, text: str) -> bool:
        """Whether this run begins what ``closer`` ends, by CommonMark's rules 9 to 12 of emphasis."""
        is_same, is_plain = text[self.start] == text[closer.start], not (self.closes or closer.opens)
        return is_same and (is_plain or (self.length + closer.length) % 3 != 0 or self.length % 3 == 0)


class _Inline:
    """One reading of a paragraph from left to right, which collects edits of it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._edits: list[tuple[int, int, str]] = []
        self._brackets: list[int] = []
        self._runs: list[_Run] = []
        self._cjk = [match.start() for match in _CJK.finditer(text)]
        self._ticks: dict[int, list[int]] = defaultdict(list)
        for match in _TICKS.finditer(text):
            self._ticks[len(match.group())].append(match.start())
        self._last_comment_end = text.rfind("-->")

    def simplified(self) -> str:
        """Return the paragraph with all edits made."""
        at = 0
        while token := _TOKEN.search(self._text, at):
            at = self._read(token.lastgroup, token.start(), token.end())
        pieces, at = [], 0
        for start, end, new in sorted(self._edits):
            pieces += [self._text[at:start], new]
            at = end
        return "".join(pieces) + self._text[at:]

    def _edit(self, start: int, end: int, new: str = "") -> None:
        self._edits.append((start, end, new))

    def _read(self, kind: str | None, start: int, end: int) -> int:
        """Read a token, and return where to go on."""
        match kind:
            case "code":
                end = self._code(start, end)
            case "comment" if start + 2 <= self._last_comment_end:
                end = self._text.index("-->", start + 2) + 3
                self._edit(start, end)
            case "close":
                end = self._link(start, end)
            case "open":
                self._brackets.append(start)
            case "mark":
                self._emphasis(start, end)
            case "newline":  # ends italics, as in Tencent's filter: a lone asterisk is rather that of a footnote
                self._runs.clear()
            case "auto":
                self._unwrap(start, start + 1, end - 1, end)
            case "needless":
                self._edit(start, start + 1)
            case "br":
                self._line_break(start, end)
        return end

    def _code(self, start: int, end: int) -> int:
        """Skip a code span, or, when it is not closed, only its opening."""
        candidates = self._ticks[end - start]
        index = bisect_left(candidates, end)
        return candidates[index] + end - start if index < len(candidates) else end

    def _line_break(self, start: int, end: int) -> None:
        """Break the line once, also before a line end; a quote goes on behind the break, a table row must not break."""
        quote = _QUOTE.match(self._text)
        if _LINE_END.match(self._text, end):
            self._edit(start, end)
        elif _TABLE_ROW.match(self._text):
            self._edit(start, end, " ")
        else:
            self._edit(start, end, f"\n{quote.group()}" if quote and len(quote.group()) < end - start else "\n")

    def _unwrap(self, start: int, inner_start: int, inner_end: int, end: int) -> None:
        """Leave an address alone, apart from letters on either side, which would be taken for parts of it."""
        self._edit(start, inner_start, " " if self._text[start - 1 : start].isalnum() else "")
        self._edit(inner_end, end, " " if self._text[end : end + 1].isalnum() else "")

    def _link(self, start: int, end: int) -> int:
        """Read what closes a link or an image; brackets without an address stay."""
        opened = self._brackets.pop() if self._brackets else start
        is_image = self._text[opened] == "!"
        target = _TARGET.match(self._text, end) or (_PICTURE.match(self._text, end) if is_image else None)
        if opened == start or target is None:
            return end
        if is_image:
            self._drop_image(opened, end, target.end())
        else:
            self._show_link(opened, start, target)
        return target.end()

    def _drop_image(self, opened: int, alt_end: int, end: int) -> None:
        """Leave the brackets with the alt text; what follows must not become their address."""
        if self._text[opened : min(alt_end, opened + 5)] in ("![]", "![ ]"):
            self._edit(opened, end)
        else:
            self._edit(opened, opened + 1)
            self._edit(alt_end, end, " " if self._text[end : end + 1] in ("(", "[", ":") else "")

    def _show_link(self, opened: int, closed: int, target: re.Match[str]) -> None:
        """Show the address behind the text, or alone; addresses that would then be read as Markdown stay in a link."""
        name = "plain" if target["angle"] is None else "angle"
        address, start, end = target[name], target.start(name), target.end(name)
        if not address or set(address) & set("*[]`\\<>"):
            return
        shown = self._text[opened + 1 : min(closed, opened + 2 + len(address))]
        if address in (shown, f"mailto:{shown}") or not shown:
            self._unwrap(opened, *((opened + 1, closed) if shown else (start, end)), target.end())
        else:
            self._edit(opened, opened + 1)
            self._edit(closed, start, " (")
            self._edit(end, end + (name == "angle"))

    def _emphasis(self, start: int, end: int) -> None:
        """Read a run of markers: let it close what it can, and keep the rest for what may close it."""
        run = _Run(start, end, end - start, *self._flanks(start, end))
        while run.closes and run.start < run.end and self._pair(run):
            pass
        if run.opens and run.start < run.end:
            self._runs.append(run)

    def _pair(self, closer: _Run) -> bool:
        """Pair a run with the nearest that matches, and drop both markers when that is an italic around CJK."""
        last = len(self._runs) - 1
        candidates = range(last, max(-1, last - _MOST_OPENERS), -1)
        index = next((index for index in candidates if self._runs[index].matches(closer, self._text)), None)
        if index is None:
            return False
        opener = self._runs[index]
        size = 2 if min(opener.end - opener.start, closer.end - closer.start) >= 2 else 1
        opener.end -= size
        if size == 1 and bisect_right(self._cjk, opener.end) < bisect_left(self._cjk, closer.start):
            self._edit(opener.end, opener.end + 1)
            self._edit(closer.start, closer.start + 1)
        closer.start += size
        del self._runs[index + (opener.start < opener.end) :]
        return True

    def _flanks(self, start: int, end: int) -> tuple[bool, bool]:
        """Whether a run may open and close: as in CommonMark, but ``*“引”*后`` closes, and ``2*数*3`` is a product."""
        before, after = self._text[start - 1 : start] or " ", self._text[end : end + 1] or " "
        opens = not after.isspace() and (not _is_punctuation(after) or _is_border(before))
        closes = not before.isspace() and (not _is_punctuation(before) or _is_border(after))
        if self._text[start] == "_":
            return opens and (not closes or _is_punctuation(before)), closes and (not opens or _is_punctuation(after))
        if end - start == 1:
            return opens and not before.isdigit(), closes and not after.isdigit()
        return opens, closes


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _is_border(character: str) -> bool:
    return character.isspace() or _is_punctuation(character) or _CJK.match(character) is not None
