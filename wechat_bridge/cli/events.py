"""`wechat-bridge events ...`: who may send events, and what becomes of one."""

from __future__ import annotations

import os
import re
import sys
import threading
from pathlib import Path
from typing import Annotated, Any

import typer

from wechat_bridge import wiring
from wechat_bridge.cli.console import print_fields, print_json, print_table, tell
from wechat_bridge.cli.session import connected, who
from wechat_bridge.cli.signals import StopSignals
from wechat_bridge.errors import NotConfigured, SettingsError
from wechat_bridge.gateway.api_keys import digest, new_key
from wechat_bridge.gateway.incoming import Incoming
from wechat_bridge.gateway.ingest import ingest
from wechat_bridge.local.environment import for_commands
from wechat_bridge.local.home import Home
from wechat_bridge.model.configuration import written
from wechat_bridge.model.event import EventSource, Status
from wechat_bridge.settings import data_dir, settings
from wechat_bridge.wiring.event_gateway import consume_events

app = typer.Typer(no_args_is_help=True, help="Who may send events to the gateway, and what becomes of them.")
key = typer.Typer(no_args_is_help=True, help="API keys of those who send events by HTTP.")
app.add_typer(key, name="key")


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", text):
        raise typer.BadParameter("should be 1 to 64 letters, digits, dots, hyphens and underscores")
    return text


Name = Annotated[str, typer.Argument(metavar="NAME", help="Of whoever gets the key.")]
NewName = Annotated[str, typer.Argument(metavar="NAME", parser=_name, help="Letters, digits, dots, hyphens.")]
Types = Annotated[list[str] | None, typer.Option("--type", help="Only this type; may end with *. May be repeated.")]
Json = Annotated[bool, typer.Option("--json", help="Machine readable.")]


@key.command()
def add(name: NewName, types: Types = None) -> None:
    """Make a key and show it, this once: only its hash is kept."""
    made = new_key()
    with connected() as wired:
        if name in wired.gateway.rules().keys:
            raise SettingsError(f"{name} has a key; remove it first: wechat-bridge events key remove {name}")
        rule: dict[str, Any] = {"sha256": digest(made), "types": types or ["*"]}
        wired.configuration.set(written(("events", "keys", name)), rule, who(), f"key of {name}")
    print(made)
    print("in force within 2 s; send it as Authorization: Bearer ...", file=sys.stderr)


@key.command("list")
def list_keys(as_json: Json = False) -> None:
    """List who has a key, and for which types."""
    with connected() as wired:
        known = wired.gateway.rules().keys
    if as_json:
        print_json([{"name": name, "types": list(rule.types)} for name, rule in known.items()])
    elif known:
        print_table(("NAME", "TYPES"), [(name, ", ".join(rule.types)) for name, rule in known.items()])
    else:
        tell("nobody has a key, so nobody may send events by HTTP: wechat-bridge events key add NAME")


@key.command()
def remove(name: Name) -> None:
    """Let a key be good for nothing any more."""
    with connected() as wired:
        if name not in wired.gateway.rules().keys:
            raise NotConfigured(f"{name} has no key; see: wechat-bridge events key list")
        wired.configuration.unset(written(("events", "keys", name)), who(), f"key of {name} removed")
    tell(f"the key of {name} is good for nothing any more, within 2 s")


@app.command()
def send(
    file: Annotated[Path, typer.Argument(help="With the event; - reads standard input.", allow_dash=True)],
    event_type: Annotated[str, typer.Option("--type", help="Where the event does not say it.")] = "",
    content_type: Annotated[str, typer.Option(help="How it is written.")] = "application/json",
) -> None:
    """Take an event from a file, as if it had been sent; the exit code is 1 when it is not taken."""
    raw = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    with connected() as wired:
        receipt = ingest(wired.gateway, Incoming(EventSource.TASK, content_type, raw, {}, event_type))
    print_fields(receipt.model_dump(mode="json", exclude={"http_status"}))
    if receipt.status in (Status.REJECTED, Status.UNAVAILABLE):
        raise typer.Exit(1)


@app.command()
def show(event_id: Annotated[str, typer.Argument(metavar="ID")], as_json: Json = False) -> None:
    """Show what became of an event."""
    with connected() as wired:
        event = wired.gateway.events.get(event_id)
    if event is None:
        raise NotConfigured(f"there is no event {event_id}; its id is what whoever sent it was told")
    fields = event.model_dump(mode="json", exclude={"raw_payload", "claim"})
    print_json(fields) if as_json else print_fields(fields)


@app.command()
def consume() -> None:
    """Read the brokers' queues that events.consume names, until a signal says stop."""
    stop = threading.Event()
    os.environ.update(for_commands(Home(data_dir())))
    with StopSignals() as signals:
        wiring.start_process("events")
        try:
            consume_events(wiring.gateway(), settings().redis_url, stop)
        except KeyboardInterrupt:
            signals.ignore()
            stop.set()
        finally:
            wiring.stop_process()
