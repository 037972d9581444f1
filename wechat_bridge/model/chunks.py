"""Cut an answer into pieces that WeChat takes whole."""

from __future__ import annotations

import unicodedata

FENCE = "```"


def split(text: str, most_characters: int, most_bytes: int, most_chunks: int) -> list[str]:
    """Cut ``text`` into pieces of at most so many characters and UTF-8 bytes each, at most ``most_chunks`` of them.

    Cuts fall between paragraphs, lines or words where there are any, never inside a character as people see it. A code
    fence that a cut opens is closed there and opened again with the same opener. When the pieces do not fit into the
    send budget, they grow up to the byte limit; what is beyond that even then is kept in the last piece's place as a
    plain statement that the answer was too long.
    """
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
    for characters in (most_characters, most_bytes):
        pieces = _pieces(clean, characters, most_bytes)
        if len(pieces) <= most_chunks:
            return pieces
    return [*pieces[: most_chunks - 1], TOO_LONG]


TOO_LONG = "（回答过长，余下部分未能发送。）"


def _pieces(text: str, most_characters: int, most_bytes: int) -> list[str]:
    pieces: list[str] = []
    opener = ""
    rest = text
    while rest:
        head = f"{opener}\n" if opener else ""
        tail_room = len(FENCE) + 1
        room = _fitting(rest, most_characters - len(head) - tail_room, most_bytes - len(head.encode()) - tail_room)
        if _fits(head + rest, most_characters, most_bytes):
            room = len(rest)
        cut = room if room == len(rest) else _cut(rest, room)
        body, rest = rest[:cut], rest[cut:].lstrip("\n")
        opener = _open_fence(head + body)
        pieces.append((head + body).rstrip() + (f"\n{FENCE}" if opener and rest else ""))
    return pieces


def _fits(text: str, most_characters: int, most_bytes: int) -> bool:
    return len(text) <= most_characters and len(text.encode()) <= most_bytes


def _fitting(text: str, most_characters: int, most_bytes: int) -> int:
    """Return how many code points from the start fit into both limits; at least one."""
    head = text[: max(1, most_characters)].encode()[: max(4, most_bytes)]
    return max(1, len(head.decode(errors="ignore")))


def _cut(text: str, room: int) -> int:
    """Return where to cut within the first ``room`` code points."""
    for separator in ("\n\n", "\n", "。", " "):
        at = text.rfind(separator, room // 2, room)
        if at > 0:
            return at + len(separator)
    at = room
    while at > 1 and _joins(text, at):
        at -= 1
    return at if at > 1 else room


def _joins(text: str, at: int) -> bool:
    """Whether the code points around ``at`` are one character to people (emoji sequences, combining marks)."""
    before, after = text[at - 1], text[at]
    return (
        "\u200d" in (before, after)
        or unicodedata.combining(after) != 0
        or after in "\ufe0f\ufe0e\u20e3"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or ("\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff")
    )


def _open_fence(text: str) -> str:
    """Return the opener of a code fence that is still open at the end, or nothing."""
    opener = ""
    for line in text.split("\n"):
        if line.lstrip().startswith(FENCE):
            opener = "" if opener else line.strip()
    return opener
