"""Code fences as CommonMark defines them, and as engines write them: also deeper indented, in lists."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"[ \t]*(?P<marker>`{3,}|~{3,})(?P<info>.*)")


@dataclass(frozen=True)
class Fence:
    """An open fence: the line that opened it, and the marker that closes it."""

    opener: str
    marker: str


def fence_line(line: str) -> Fence | None:
    """Return the fence that a line would open, or None when it cannot; a closing line could open one too."""
    match = _FENCE.fullmatch(line)
    if match is None or ("`" in match["marker"] and "`" in match["info"]):
        return None
    return Fence(line.strip(), match["marker"])


def closes(line: str, fence: Fence) -> bool:
    """Whether a line closes a fence: the same characters, at least as many, and nothing else."""
    stripped = line.strip()
    return stripped.startswith(fence.marker) and not stripped.strip(fence.marker[0])


def open_after(text: str, fence: Fence | None, longest: int) -> Fence | None:
    """Return the fence that is open behind ``text`` when ``fence`` was open before it.

    Markers that, with their line end, are longer than ``longest`` are taken for ordinary text.
    """
    for line in text.split("\n"):
        if fence is None:
            found = fence_line(line)
            fence = found if found and len(found.marker) < longest else None
        elif closes(line, fence):
            fence = None
    return fence


def paragraphs(text: str) -> list[str]:
    """Return what blank lines part; those inside a code fence part nothing."""
    found: list[list[str]] = [[]]
    fence: Fence | None = None
    for line in text.split("\n"):
        if fence is None and not line.strip():
            found.append([])
            continue
        found[-1].append(line)
        fence = open_after(line, fence, len(text) + 1)
    return ["\n".join(lines) for lines in found if lines]


def longest_marker(text: str, most: int) -> int:
    """Return the length of the longest marker line of at most ``most`` characters, line end included; 0 for none."""
    lengths = [len(found.marker) + 1 for line in text.split("\n") if (found := fence_line(line))]
    return max((length for length in lengths if length <= most), default=0)
