"""`wechat-bridge channel set`: how a channel answers, from the next message on."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from wechat_bridge.cli.channel_view import as_changes
from wechat_bridge.cli.console import tell
from wechat_bridge.cli.session import connected, valid_share_id, who
from wechat_bridge.flow.channel.configure import configure
from wechat_bridge.model.channel import QueueMode
from wechat_bridge.settings import PREFIX

SECRET_NAME = f"{PREFIX}CHECK_SECRET"
CLEAR = "-"


def set_channel(
    share_id: Annotated[str, typer.Argument(parser=valid_share_id, metavar="SHARE_ID", help="The channel.")],
    name: Annotated[str | None, typer.Option(help="What people call it.")] = None,
    engine: Annotated[str | None, typer.Option(help="Which reply engine answers.")] = None,
    queue_mode: Annotated[
        QueueMode | None, typer.Option(help="Messages behind an open turn: one next turn, one each, or the newest.")
    ] = None,
    label: Annotated[str | None, typer.Option(help='Last line of each answer of an engine; "" for none.')] = None,
    refusal: Annotated[str | None, typer.Option(help='Said in place of a refused answer; "" says nothing.')] = None,
    words_file: Annotated[
        str | None,
        typer.Option(help="Words no answer may contain: `word` refuses it, `word => text` replaces; - for none."),
    ] = None,
    check_url: Annotated[str | None, typer.Option(help="A URL that each answer must pass.")] = None,
    check_secret: Annotated[
        bool, typer.Option("--check-secret", help=f"Ask for what signs the requests to it, or take {SECRET_NAME}.")
    ] = False,
    no_check: Annotated[bool, typer.Option("--no-check", help="Forget the URL and its secret.")] = False,
) -> None:
    """Change how a channel answers; what is not given stays. Its login and its messages are not touched."""
    if no_check and (check_url or check_secret):
        raise typer.BadParameter("--no-check goes with neither --check-url nor --check-secret")
    given = {"name": name, "engine": engine, "queue_mode": queue_mode}
    rules: dict[str, Any] = {"label": label, "refusal": refusal, "check_url": check_url}
    rules["words"] = None if words_file is None else _words(words_file)
    rules["check_secret"] = _secret() if check_secret or (check_url and SECRET_NAME in os.environ) else None
    if no_check:
        rules |= {"check_url": "", "check_secret": ""}
    fields, rules = _given(given), _given(rules)
    if not fields and not rules:
        raise typer.BadParameter("say what to change; see --help")
    with connected() as wired:
        before, after = configure(wired.bridge, share_id, fields, rules, who())
    changes = as_changes(before, after)
    for line in [*changes, "it counts from the next message on"] if changes else ["nothing changes"]:
        tell(f"channel {share_id}: {line}")


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _words(name: str) -> tuple[str, ...]:
    if name == CLEAR:
        return ()
    try:
        return tuple(Path(name).read_text(encoding="utf-8-sig").splitlines())
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"cannot read {name} as a text in UTF-8: {error}", param_hint="--words-file") from None


def _secret() -> str:
    """Return the secret, which is in no argument: everybody on the machine reads those."""
    secret = os.environ.get(SECRET_NAME)
    if secret is None and sys.stdin.isatty():
        secret = typer.prompt("secret of the check", hide_input=True, confirmation_prompt=True, err=True)
    secret = (sys.stdin.readline() if secret is None else str(secret)).strip()
    if not secret:
        raise typer.BadParameter(f"the secret is empty; type it, or set {SECRET_NAME}", param_hint="--check-secret")
    return secret
