"""The Markdown within one paragraph: what its markers, links and code spans are, and what is left of them."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass

_MOST_OPENERS = 16  # how far back an italic's beginning is looked for: bounds the time that hostile texts take

QUOTE = re.compile(r"[ \t]*+>[> \t]*+")
_TABLE_ROW = re.compile(r"[ \t]*+\|")
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


class Inline:
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
            case "needless" | "escape":
                self._backslash(start, end, kind)
            case "br":
                self._line_break(start, end)
        return end

    def _code(self, start: int, end: int) -> int:
        """Skip a code span, or, when it is not closed, only its opening."""
        candidates = self._ticks[end - start]
        index = bisect_left(candidates, end)
        if index == len(candidates):
            return end
        self._span(start, end, candidates[index])
        return candidates[index] + end - start

    def _span(self, start: int, end: int, closed: int) -> None:
        """Read a code span whose ticks begin at ``start`` and at ``closed``: it stays."""

    def _backslash(self, start: int, end: int, kind: str) -> None:
        """Read a backslash: it stays where it may keep what follows from being a marker."""
        if kind == "needless":
            self._edit(start, start + 1)

    def _line_break(self, start: int, end: int) -> None:
        """Break the line once, also before a line end; a quote goes on behind the break, a table row must not break."""
        quote = QUOTE.match(self._text)
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
        """Pair a run with the nearest that matches, and drop both markers if they are to be."""
        last = len(self._runs) - 1
        candidates = range(last, max(-1, last - _MOST_OPENERS), -1)
        index = next((index for index in candidates if self._runs[index].matches(closer, self._text)), None)
        if index is None:
            return False
        opener = self._runs[index]
        size = 2 if min(opener.end - opener.start, closer.end - closer.start) >= 2 else 1
        opener.end -= size
        if self._is_dropped(size, opener.end, closer.start):
            self._edit(opener.end, opener.end + size)
            self._edit(closer.start, closer.start + size)
        closer.start += size
        del self._runs[index + (opener.start < opener.end) :]
        return True

    def _is_dropped(self, size: int, start: int, end: int) -> bool:
        """Whether a pair of markers of one or two characters goes: WeChat shows no italics around CJK."""
        return size == 1 and bisect_right(self._cjk, start) < bisect_left(self._cjk, end)

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
