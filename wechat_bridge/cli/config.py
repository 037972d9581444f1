"""`wechat-bridge config ...`: change settings and the rules of events while the bridge runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from wechat_bridge.cli.config_view import as_fields, as_row, header, line_of, value_at
from wechat_bridge.cli.console import print_json, print_table, tell
from wechat_bridge.cli.session import connected, who
from wechat_bridge.errors import SettingsError
from wechat_bridge.flow.configuration.changes import Changes, Published
from wechat_bridge.flow.configuration.document import read_document, read_value
from wechat_bridge.flow.configuration.uptake import uptake_of
from wechat_bridge.flow.context import Bridge

WAIT_SECONDS = 4.0
"""Processes look every second; after these, whoever has not taken a version up has a reason."""

app = typer.Typer(
    no_args_is_help=True,
    help="Change settings and the rules of events while the bridge runs: in force everywhere within 2 s.",
)

Place = Annotated[str, typer.Argument(metavar="PATH", help="As in settings.debounce.idle_seconds.")]
Number = Annotated[int, typer.Argument(min=0, metavar="VERSION", help="0: the environment alone.")]
Note = Annotated[str, typer.Option(help="Why, for the history.")]
Json = Annotated[bool, typer.Option("--json", help="Machine readable.")]


@app.command()
def show(
    place: Annotated[str, typer.Argument(metavar="[PATH]", help="Only what is in force there.")] = "",
    version: Annotated[int | None, typer.Option(min=0, help="This version instead of the newest.")] = None,
    as_json: Json = False,
) -> None:
    """Show the document: what is changed, compared with the environment, and by whom. `apply` takes it back.

    With PATH (`settings` and `events` are the widest) show what is in force there, whoever said so. Secrets are masked.
    """
    if place and version is not None:
        raise typer.BadParameter("a path shows what is in force, --version a document: give one of them")
    with connected() as wired:
        shown = wired.configuration.show(version)
        value = value_at(wired.configuration.in_force(), place) if place else None
    if place:
        print_json(value) if as_json or isinstance(value, dict | list) else print(value)
    elif as_json:
        print_json(as_fields(shown))
    else:
        tell(header(shown))
        print_json(shown.document)


@app.command(name="set")
def set_value(
    place: Place,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="JSON or a text; - reads it from stdin.")],
    note: Note = "",
) -> None:
    """Change one value: `config set settings.debounce.idle_seconds 2`.

    A text that looks like a number stands in quotes: '"123"'. Give secrets by stdin, where nobody sees them.
    """
    given = read_value(sys.stdin.read().strip() if value == "-" else value)
    _publish(lambda changes: changes.set(place, given, who(), note))


@app.command()
def unset(place: Place, note: Note = "") -> None:
    """Change nothing there any more: what the environment says, or else the default, counts again."""
    _publish(lambda changes: changes.unset(place, who(), note))


@app.command()
def apply(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The whole document as JSON; - reads it from stdin.")],
    note: Note = "",
    if_version: Annotated[
        int | None, typer.Option("--if-version", min=0, help="Only if this version is still the newest.")
    ] = None,
) -> None:
    """Put a document in force instead of the present one, whole or not at all.

    What is masked in it (***) stays as it is. Whatever is wrong with it is told at once, and nothing is changed.
    """
    document = read_document(_text(file), "the document" if file == "-" else file)
    _publish(lambda changes: changes.apply(document, who(), note, if_version))


@app.command()
def history(
    limit: Annotated[int, typer.Option(min=1, help="The last so many versions.")] = 20, as_json: Json = False
) -> None:
    """List the versions, newest first: who changed what, when and why."""
    with connected() as wired:
        versions = wired.configuration.history(limit)
    if as_json:
        print_json([as_fields(each) for each in versions])
    elif versions:
        print_table(("VERSION", "AT", "BY", "NOTE", "CHANGED"), [as_row(each) for each in versions])
    else:
        tell("there is no version: the environment alone is in force")


@app.command()
def rollback(version: Number, note: Note = "") -> None:
    """Put what an earlier version said in force again, as a new version."""
    _publish(lambda changes: changes.roll_back(version, who(), note))


def _publish(change: Callable[[Changes], Published]) -> None:
    with connected() as wired:
        published = change(wired.configuration)
        if not published.changes:
            tell(f"nothing is changed: version {published.number} says the same")
            return
        for each in published.changes:
            tell(line_of(each))
        tell(f"version {published.number} is published")
        _wait_taken_up(wired.bridge, published.number)


def _wait_taken_up(bridge: Bridge, number: int) -> None:
    """Say where the version is in force, as soon as it is everywhere, or after some seconds where it is not."""
    deadline = time.monotonic() + WAIT_SECONDS
    while (uptake := uptake_of(bridge, number)).behind and time.monotonic() < deadline:
        time.sleep(0.1)
    for worker in uptake.behind:
        tell(f"not in force in {worker.id} ({worker.kind}), which has version {worker.configuration}: see its log")
    if uptake.count:
        tell(f"in force in {uptake.count - len(uptake.behind)} of {uptake.count} processes")
    else:
        tell("no process runs; it counts from the next start on")


def _text(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SettingsError(f"{file} cannot be read: {reason}; nothing is changed") from None
