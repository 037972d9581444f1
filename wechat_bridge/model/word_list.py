"""Find words that an answer may not contain, however they are written, and replace them without tearing a character.

Found: a word in any case and width, with characters in it that nobody sees or that only mark it up (``*``, ``~``, a
backtick), and spelled out, one character at a time with a space, dot, hyphen or underscore between. A Latin word is
found as a whole word only, so that "ass" leaves "class" alone, and spelled out from four letters on; any other script
has no spaces to tell words by, so its words are found inside others.

Not found: other forms of a Latin word (list them), look-alikes of another alphabet or a digit for a letter, words in
pictures and files, and a word over two lines.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from wechat_bridge.model.characters import is_inside_character

ARROW = "=>"
MASK = "＊"
"""Full width: a plain asterisk would be Markdown."""

MOST_WORDS = 2_000
"""They are read with their channel, at every turn; for more there is the check by a webhook."""

LEAST_SPELLED_LATIN = 4
LEAST_SPELLED = 2

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_MARKUP = re.compile("[*`~]")
_SPELLED = re.compile(r"(?<!\w)(?:[^\W_][ ._-]){2,}[^\W_](?!\w)")


@dataclass(frozen=True)
class Word:
    """One line of a list: ``text`` as it is compared, and what takes its place; None refuses the whole answer."""

    text: str
    replacement: str | None


@dataclass(frozen=True)
class Hit:
    """A word from ``start`` to before ``end`` of a folded text."""

    start: int
    end: int
    word: Word


def parse(lines: Sequence[str]) -> tuple[Word, ...]:
    """Return the words of a list: ``word`` refuses an answer, ``word => text`` replaces, ``word =>`` masks.

    Raises ValueError, naming the line, where nothing is left of a word to look for, and when there are too many.
    """
    words = [_word(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if len(words) > MOST_WORDS:
        raise ValueError(f"{len(words)} words are too many, {MOST_WORDS} are allowed; a check by webhook takes any")
    return tuple(sorted(words, key=lambda word: -len(word.text)))


@lru_cache(maxsize=64)
def parsed(lines: tuple[str, ...]) -> tuple[Word, ...]:
    """Return the words of a list that was parsed before."""
    return parse(lines)


def apply(words: Sequence[Word], text: str) -> str | None:
    """Return ``text`` with its words replaced, the same when there are none, or None when it is refused."""
    if not any(_hits(words, folded(text))):
        return text
    spots = _Spots(text)
    hits = sorted(_hits(words, spots.folded), key=lambda hit: (hit.start, -hit.end))
    if not hits or any(hit.word.replacement is None for hit in hits):
        return None  # also where it is found in the whole only, so that its place cannot be told
    return spots.replaced(hits)


def folded(text: str) -> str:
    """Return ``text`` as it is compared: one case, one width, without what nobody sees."""
    compatible = unicodedata.normalize("NFKC", _MARKUP.sub("", text)).casefold()  # masks, of full width, stay
    return unicodedata.normalize("NFKC", _UNSEEN.sub("", compatible))


class _Spots:
    """A text folded character by character, which tells from where in the text each part of it came."""

    def __init__(self, text: str) -> None:
        bounds = [at for at in range(len(text)) if not is_inside_character(text, at)] + [len(text)]
        self._characters = [text[start:end] for start, end in pairwise(bounds)]
        parts = [folded(character) for character in self._characters]
        self._origins = [number for number, part in enumerate(parts) for _ in part]
        self.folded = "".join(parts)

    def replaced(self, hits: Sequence[Hit]) -> str:
        """Return the text with whole characters replaced, from left to right; of words that overlap, the longest."""
        pieces: list[str] = []
        done = 0
        for hit in hits:
            first, last = self._origins[hit.start], self._origins[hit.end - 1] + 1
            if first < done:
                first = min(done, last)
                pieces.append(MASK * (last - first))
            else:
                pieces += [*self._characters[done:first], hit.word.replacement or MASK * (last - first)]
            done = max(done, last)
        return "".join([*pieces, *self._characters[done:]])


def _word(number: int, line: str) -> Word:
    text, arrow, replacement = line.partition(ARROW)
    plain = folded(text).strip()
    if not plain:
        raise ValueError(f"line {number} has no word to look for: {line.strip()!r}")
    return Word(plain, replacement.strip() if arrow else None)


def _hits(words: Sequence[Word], text: str) -> Iterator[Hit]:
    for word in words:
        at = text.find(word.text)
        while at >= 0:
            if _is_whole(text, at, at + len(word.text)):
                yield Hit(at, at + len(word.text), word)
            at = text.find(word.text, at + 1)
    for run in _SPELLED.finditer(text):
        yield from _spelled(words, run)


def _spelled(words: Sequence[Word], run: re.Match[str]) -> Iterator[Hit]:
    """Find words in a run of characters that stand one by one."""
    letters = run.group()[::2]
    for word in words:
        is_long = len(word.text) >= (LEAST_SPELLED_LATIN if _is_latin(word.text[0]) else LEAST_SPELLED)
        at = letters.find(word.text) if is_long else -1
        while at >= 0:
            yield Hit(run.start() + 2 * at, run.start() + 2 * (at + len(word.text)) - 1, word)
            at = letters.find(word.text, at + 1)


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no Latin letter goes on at an edge where the word has one itself."""
    goes_on = (_is_latin(text[start]) and start and _is_latin(text[start - 1])) or (
        end < len(text) and _is_latin(text[end - 1]) and _is_latin(text[end])
    )
    return not goes_on


def _is_latin(character: str) -> bool:
    """Whether it belongs to a script that has two cases, or is a digit: their words have spaces between."""
    return character.isdigit() or character.upper() != character
