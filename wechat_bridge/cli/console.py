"""Where commands write: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.status import Status
from rich.table import Table


def print_json(value: Any) -> None:
    """Print a result for machines, one JSON document."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a result for people."""
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*row)
    Console(highlight=False, markup=False).print(table)


def print_fields(fields: Mapping[str, Any]) -> None:
    """Print one thing for people, a line per field."""
    width = max(map(len, fields))
    for name, value in fields.items():
        print(f"{name:<{width}}  {'-' if value is None or value == '' else value}")


def print_light_on_dark(text: str) -> None:
    """Print a drawing in white on black whatever the colours of the terminal are."""
    Console(highlight=False, markup=False, soft_wrap=True).print(text, style="rgb(255,255,255) on rgb(0,0,0)")


def tell(line: str) -> None:
    """Say on stderr what happens."""
    Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print(line)


class PatientConsole(Console):
    """A console on stderr whose reader may go away: then nothing more is said, and the work goes on."""

    def on_broken_pipe(self) -> None:
        """Fall silent; rich would end the program."""
        self.quiet = True


class Reporter:
    """Says on stderr what happens: with a spinner while something is under way in a terminal, plain lines elsewhere."""

    def __init__(self) -> None:
        self._console = PatientConsole(stderr=True, highlight=False, markup=False, soft_wrap=True)
        self._status: Status | None = None

    def tell(self, line: str) -> None:
        """Say a line; callable from any thread. It never fails, since what keeps the processes running calls it."""
        try:
            self._console.print(line)
        except OSError:  # the terminal was closed
            self._console.quiet = True
        if self._status is not None:
            self._status.update(line)

    @contextmanager
    def busy(self, what: str) -> Iterator[None]:
        """Show that ``what`` is under way."""
        if not self._console.is_terminal:
            yield
            return
        with self._console.status(what) as self._status:
            yield
        self._status = None
