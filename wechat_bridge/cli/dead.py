"""`wechat-bridge dead ...`: what was given up, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated

import typer

from wechat_bridge.cli.console import print_fields, print_json, print_table, tell
from wechat_bridge.cli.dead_view import Filter, as_fields, as_row, moment, per_second
from wechat_bridge.cli.session import connected, valid_share_id, who
from wechat_bridge.errors import DeadLetterUnknown
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.dead_letters import replay as flow

app = typer.Typer(no_args_is_help=True, help="Look into what was given up, and replay or discard it.")

MOST = 100


def _since(text: str) -> datetime:
    try:
        return moment(text, datetime.now(UTC))
    except ValueError:
        raise typer.BadParameter(f"{text!r} should be like 30min, 2h, 7d or 2026-11-30T12:00:00Z") from None


def _rate(text: str | float) -> float:
    try:
        return per_second(str(text))  # the default is parsed, too
    except ValueError:
        raise typer.BadParameter(f"{text!r} should be like 5/s") from None


Id = Annotated[str, typer.Argument(metavar="ID", help="As `dead list` shows it.")]
Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="As `dead list` shows them.")]
ShareId = Annotated[str | None, typer.Option(parser=valid_share_id, metavar="SHARE_ID", help="Of this channel only.")]
Stage = Annotated[str, typer.Option(help="Given up at this stage: reply, deliver, broker or task.")]
Error = Annotated[str, typer.Option(help="With this in the error's class or text.")]
Since = Annotated[
    datetime | None, typer.Option(parser=_since, metavar="TIME", help="Failed since: 30min, 2h, 7d, or ISO 8601.")
]
Limit = Annotated[int, typer.Option(min=1, help="At most so many, those that failed last first.")]
Rate = Annotated[float, typer.Option(parser=_rate, metavar="N/s", help="At most so many a second.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only tell what would happen.")]
Force = Annotated[bool, typer.Option("--force", help="Also of people who are not answered any more.")]
Json = Annotated[bool, typer.Option("--json", help="Machine readable.")]


@app.command(name="list")
def list_letters(
    share_id: ShareId = None,
    stage: Stage = "",
    error: Error = "",
    since: Since = None,
    limit: Limit = MOST,
    as_json: Json = False,
) -> None:
    """List the dead letters that wait for somebody."""
    with connected() as wired:
        waiting = wired.bridge.dead_letters.all_waiting()
    meant = Filter(share_id or "", stage, error, since)
    letters = [letter for letter in waiting if meant.takes(letter)]
    if as_json:
        print_json([as_fields(letter) for letter in letters[:limit]])
    elif letters:
        print_table(("ID", "STAGE", "ATTEMPTS", "FAILED", "ERROR"), list(map(as_row, letters[:limit])))
    if not as_json and len(letters) != len(letters[:limit]):
        tell(f"{len(letters) - limit} more; see them with --limit {len(letters)}")
    if not as_json and not letters:
        tell(f"none of {len(waiting)} dead letters is meant" if waiting else "no dead letter waits for anybody")


@app.command()
def show(letter_id: Id, as_json: Json = False) -> None:
    """Show everything that is known about a dead letter."""
    with connected() as wired:
        letter = wired.bridge.dead_letters.get(letter_id)
    if letter is None:
        raise DeadLetterUnknown(f"there is no dead letter {letter_id}; `wechat-bridge dead list` shows those there are")
    if as_json:
        print_json(as_fields(letter))
    else:
        print_fields(as_fields(letter))


@app.command()
def replay(
    ids: Ids = None,
    share_id: ShareId = None,
    stage: Stage = "",
    error: Error = "",
    since: Since = None,
    limit: Limit = MOST,
    rate: Rate = 5.0,
    force: Force = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Try given-up turns again: those named, or those that the filters mean.

    A stored answer goes on being sent; otherwise the engine is asked again. A turn that is open or completed, one of a
    conversation in which another turn is open, and one of a person who is not answered any more is refused. The exit
    code is 1 when any was refused.
    """
    by = who()

    def act(bridge: Bridge) -> Callable[[str], str]:
        if dry_run:
            return lambda each: f"{flow.look(bridge, each, force=force)}, if replayed"
        return lambda each: flow.replay(bridge, each, by, force=force)

    _in_bulk(ids or [], Filter(share_id or "", stage, error, since), limit, rate, as_json, act)


@app.command()
def discard(
    ids: Ids = None,
    share_id: ShareId = None,
    stage: Stage = "",
    error: Error = "",
    since: Since = None,
    limit: Limit = MOST,
    rate: Rate = 5.0,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Decide that dead letters will not be replayed: those named, or those that the filters mean.

    They wait for nobody any more and are removed with other old documents. The exit code is 1 when any was refused.
    """
    by = who()

    def act(bridge: Bridge) -> Callable[[str], str]:
        if dry_run:
            return lambda each: f"{flow.look_to_discard(bridge, each).stage}: not yet discarded"
        return lambda each: flow.discard(bridge, each, by)

    _in_bulk(ids or [], Filter(share_id or "", stage, error, since), limit, rate, as_json, act)


def _in_bulk(
    ids: list[str],
    meant: Filter,
    limit: int,
    rate: float,
    as_json: bool,
    act: Callable[[Bridge], Callable[[str], str]],
) -> None:
    if bool(ids) != meant.is_empty:
        raise typer.BadParameter("name dead letters by their ids, or choose them by filters (--since 7d), not both")
    with connected() as wired:
        bridge = wired.bridge
        chosen = ids or [letter.id for letter in bridge.dead_letters.all_waiting() if meant.takes(letter)][:limit]
        # The oldest first: so they were sent.
        order = chosen if ids else chosen[::-1]
        done = list(flow.one_by_one(bridge, order, act(bridge), rate))
    if as_json:
        print_json([{"id": each.id, "ok": each.error is None, "detail": each.detail} for each in done])
    elif done:
        print_table(("", "ID", "DETAIL"), [(_mark(each), each.id, each.detail) for each in done])
    else:
        tell("no dead letter is meant")
    raise typer.Exit(1 if any(each.error for each in done) else 0)


def _mark(handled: flow.Handled) -> str:
    return "refused" if handled.error else "ok"
