"""Cut an answer into pieces that WeChat takes whole."""

from __future__ import annotations

from dataclasses import dataclass

from wechat_bridge.model.characters import is_inside_character, without_lone_surrogates
from wechat_bridge.model.fences import Fence, closes, fence_line, longest_marker, open_after

TOO_LONG = "（回答过长，余下部分未能发送。）"

SEPARATORS = ("\n\n", "\n", "。", " ")
"""Where to cut, best first: between paragraphs, lines, sentences, words."""


def split(text: str, most_characters: int, most_bytes: int, most_chunks: int) -> list[str]:
    """Cut ``text`` into pieces of at most so many characters and UTF-8 bytes each, at most ``most_chunks`` of them.

    Cuts fall between paragraphs, lines or words where there are any, never inside a character as people see it. A code
    fence that a cut opens is closed there and opened again with the same opener. When the pieces do not fit into the
    send budget, they grow up to the byte limit; what is beyond that even then is kept in the last piece's place as a
    plain statement that the answer was too long. Limits are at least 16 characters and 64 bytes.
    """
    clean = without_lone_surrogates(text).strip()
    pieces: list[str] = []
    for characters in (most_characters, most_bytes):
        closing = longest_marker(clean, min(characters, most_bytes) // 4)
        pieces = _pieces(clean, _Limit(characters, most_bytes, closing), most_chunks)
        if len(pieces) <= most_chunks:
            return pieces
    return [*pieces[: most_chunks - 1], TOO_LONG]


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
