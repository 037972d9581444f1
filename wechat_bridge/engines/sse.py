"""Server-sent events, as engines stream them: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Event:
    """One event: its name ("" when it has none) and its data, bytes that are no UTF-8 as U+FFFD."""

    name: str
    data: str


def events(pieces: Iterable[bytes]) -> Iterator[Event]:
    """Yield the events of a stream, whose pieces may end anywhere. A last event needs no blank line behind it."""
    name, data = "", list[str]()
    for line in _lines(pieces):
        if not line and data:
            yield Event(name, "\n".join(data))
        if not line:
            name, data = "", []
            continue
        field, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
    if data:
        yield Event(name, "\n".join(data))


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines without their ends, which are CR LF, LF or CR."""
    waiting: list[bytes] = []
    is_first = True
    for piece in pieces:
        waiting.append(piece)
        if b"\n" not in piece and b"\r" not in piece:
            continue
        lines = b"".join(waiting).splitlines(keepends=True)
        waiting = [] if lines[-1].endswith(b"\n") else [lines.pop()]  # behind a CR an LF may follow
        for line in lines:
            yield line.rstrip(b"\r\n").removeprefix(_BYTE_ORDER_MARK if is_first else b"")
            is_first = False
    if waiting:
        yield b"".join(waiting).rstrip(b"\r\n").removeprefix(_BYTE_ORDER_MARK if is_first else b"")
