"""Cut an answer into pieces that WeChat takes whole."""

from __future__ import annotations

from dataclasses import dataclass

from wechat_bridge.model.characters import is_inside_character, without_lone_surrogates
from wechat_bridge.model.fences import Fence, closes, fence_line, longest_marker, open_after, paragraphs

TOO_LONG = "（回答过长，余下部分未能发送。）"

LEAST_CHARACTERS, LEAST_BYTES = 16, 64
"""The shortest pieces that make sense."""

LABEL_GAP = "\n\n"

SEPARATORS = ("\n\n", "\n", "。", " ")
"""Where to cut, best first: between paragraphs, lines, sentences, words."""


def split(
    text: str,
    most_characters: int,
    most_bytes: int,
    most_chunks: int,
    label: str = "",
    *,
    by_paragraph: bool = False,
) -> list[str]:
    """Cut ``text`` into pieces of at most so many characters and UTF-8 bytes each, at most ``most_chunks`` of them.

    Cuts fall between paragraphs, lines or words where there are any, never inside a character as people see it. A code
    fence that a cut opens is closed there and opened again with the same opener. When the pieces do not fit into the
    send budget, they grow up to the byte limit; what is beyond that even then is kept in the last piece's place as a
    plain statement that the answer was too long. A ``label`` is the last line of the last piece, within its limits,
    whatever is cut off; a text of nothing gets none. Limits are at least LEAST_CHARACTERS and LEAST_BYTES.

    With ``by_paragraph`` every paragraph is a piece of its own, and only one that is too long is cut; where that makes
    more pieces than may be sent, the text is cut as without.
    """
    clean = without_lone_surrogates(text).strip()
    sign = _first(label.strip(), _Limit(min(most_characters, most_bytes), most_bytes, 0))
    pieces: list[str] = []
    ways = [(most_characters, paragraphs(clean))] if by_paragraph else []
    for characters, parts in [*ways, (most_characters, [clean]), (most_bytes, [clean])]:
        closing = longest_marker(clean, min(characters, most_bytes) // 4)
        limit = _Limit(characters, most_bytes, closing)
        pieces = [piece for part in parts[: most_chunks + 1] for piece in _pieces(part, limit, most_chunks)]
        labelled = _labelled(pieces, limit, sign) if sign and 0 < len(pieces) <= most_chunks else pieces
        if len(labelled) <= most_chunks:
            return labelled
    signed = _signed(TOO_LONG, _Limit(most_bytes, most_bytes, 0), sign)
    end = [signed] if signed else [TOO_LONG, sign]
    return [*pieces[: max(0, most_chunks - len(end))], *end][-most_chunks:]


@dataclass(frozen=True)
class _Limit:
    """What one piece may hold. ``closing`` is the length of the longest line that may have to close a fence."""

    characters: int
    bytes: int
    closing: int

    def fits(self, text: str) -> bool:
        return len(text) <= self.characters and len(text.encode()) <= self.bytes

    def room(self, text: str, head: str) -> int:
        """Return how many code points of ``text`` fit behind ``head`` and before a closing line; at least one."""
        characters = self.characters - len(head) - self.closing
        most_bytes = self.bytes - len(head.encode()) - self.closing
        beginning = text[: max(1, characters)].encode()[: max(4, most_bytes)]
        return max(1, len(beginning.decode(errors="ignore")))

    def head(self, fence: Fence | None) -> str:
        """Return the line that opens a fence again; without its language where that would fill half a piece."""
        if fence is None:
            return ""
        is_short = 2 * (len(fence.opener) + 1 + self.closing) <= self.characters
        is_light = 2 * (len(fence.opener.encode()) + 1 + self.closing) <= self.bytes
        return f"{fence.opener if is_short and is_light else fence.marker}\n"


def _labelled(pieces: list[str], limit: _Limit, label: str) -> list[str]:
    """Put the label below the last piece; where it does not fit, that piece is cut once more, or it stands alone."""
    *before, last = pieces
    if signed := _signed(last, limit, label):
        return [*before, signed]
    gap = len(LABEL_GAP) + limit.closing
    shorter = _Limit(limit.characters - len(label) - gap, limit.bytes - len(label.encode()) - gap, limit.closing)
    if shorter.characters >= LEAST_CHARACTERS and shorter.bytes >= LEAST_BYTES:
        halves = _pieces(last, shorter, 2)
        if len(halves) == 2 and (signed := _signed(halves[1], limit, label)):
            return [*before, halves[0], signed]
    return [*pieces, label]


def _signed(piece: str, limit: _Limit, label: str) -> str:
    """Return a piece with the label as its last line, outside any fence; "" when that does not fit."""
    fence = open_after(piece, None, limit.closing or len(piece))
    closed = f"{piece}\n{fence.marker}" if label and fence else piece
    signed = f"{closed}{LABEL_GAP}{label}" if label else piece
    return signed if limit.fits(signed) else ""


def _first(text: str, limit: _Limit) -> str:
    """Return as much of a text as one piece holds."""
    return next(iter(_pieces(text, limit, 1)), "")


def _pieces(text: str, limit: _Limit, most: int) -> list[str]:
    """Return the pieces, or ``most`` and some more when there are too many."""
    pieces: list[str] = []
    fence: Fence | None = None
    rest = text
    while rest and len(pieces) <= most:
        piece, rest, fence = _next_piece(rest, fence, limit)
        pieces += [piece] if piece else []
    return pieces


def _next_piece(text: str, fence: Fence | None, limit: _Limit) -> tuple[str, str, Fence | None]:
    """Return a piece, what is left, and the fence that is open there; a piece of nothing but whitespace is empty."""
    head = limit.head(fence)
    if limit.fits(head + text):
        return head + text, "", None
    cut = _cut(text, limit.room(text, head))
    body, rest = text[:cut], text[cut:].lstrip("\n")
    if not body.strip():
        return "", rest, fence
    fence = open_after(body, fence, limit.closing)
    if fence is None:
        return (head + body).rstrip(), rest, None
    piece = f"{(head + body).rstrip()}\n{fence.marker}"
    first, _, behind = rest.partition("\n")
    return (piece, behind.lstrip("\n"), None) if closes(first, fence) else (piece, rest, fence)


def _cut(text: str, room: int) -> int:
    """Return where to cut within the first ``room`` code points: never 0, and ``room`` if there is no good place."""
    for separator in SEPARATORS:
        at = text.rfind(separator, room // 2, room)
        if at > 0 and not is_inside_character(text, at + len(separator)):
            return _before_fence_line(text, at + len(separator))
    at = room
    while at and is_inside_character(text, at):
        at -= 1
    return _before_fence_line(text, at or room)


def _before_fence_line(text: str, cut: int) -> int:
    """Move a cut within a line that opens or closes a fence to the beginning of that line."""
    start = text.rfind("\n", 0, cut) + 1
    line = text[start:].partition("\n")[0]
    return start if 0 < start < cut < start + len(line) and fence_line(line) else cut
