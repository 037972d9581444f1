"""Characters as people see them: what may not be torn apart, and what cannot be stored."""

from __future__ import annotations

import re
import unicodedata

ZERO_WIDTH_JOINER = "\u200d"

_FOLLOWS = re.compile(
    "["
    "\u200c\u200d"  # joiners
    "\U0001f3fb-\U0001f3ff"  # skin tones
    "\U000e0020-\U000e007f"  # tags, as in the flag of Scotland
    "\u0e33\u0eb3"  # vowels of Thai and Lao that belong to the letter before
    "\u1160-\u11ff"  # middles and ends of Korean syllables
    "]"
)
_MARKS = frozenset({"Mn", "Mc", "Me"})
_REGIONAL = re.compile("[\U0001f1e6-\U0001f1ff]*$")


def without_lone_surrogates(text: str) -> str:
    """Return ``text`` with halves of characters, which neither UTF-8 nor BSON can carry, as U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_inside_character(text: str, at: int) -> bool:
    """Whether a cut before code point ``at`` would tear an emoji, a flag, a letter and its marks, or a line end."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return (
        before == ZERO_WIDTH_JOINER
        or _FOLLOWS.match(after) is not None
        or unicodedata.category(after) in _MARKS
        or (before == "\r" and after == "\n")
        or _is_inside_flag(text, at)
    )


def _is_inside_flag(text: str, at: int) -> bool:
    """Flags are pairs of letters of their own kind; which two are a pair depends on how many stand before."""
    if not "\U0001f1e6" <= text[at] <= "\U0001f1ff":
        return False
    run = _REGIONAL.search(text, max(0, at - 1_000), at)
    return run is not None and len(run.group()) % 2 == 1
