"""`wechat-bridge`: the command line."""

from __future__ import annotations

import sys

import typer

from wechat_bridge.cli import access, channel, config, dead, doctor, engine, events, health, local, send, setup
from wechat_bridge.errors import BridgeError, SettingsError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Connects WeChat accounts to reply engines. Try it without an account: wechat-bridge demo",
)
app.command()(local.demo)
app.command()(local.up)
app.add_typer(channel.app, name="channel")
app.add_typer(access.app, name="access")
app.add_typer(dead.app, name="dead")
app.add_typer(engine.app, name="engine")
app.add_typer(config.app, name="config")
app.add_typer(events.app, name="events")
app.command()(send.send)
app.command()(health.health)
app.command()(doctor.doctor)
app.command()(setup.setup)
app.command("new-key")(setup.make_key)

FAILED, MISCONFIGURED = 1, 2


def main() -> None:
    """Run the command line; an expected error is one line on stderr and exit code 1, a wrong setting exit code 2."""
    try:
        app()
    except BridgeError as error:
        print("\n".join([f"error: {error}", *getattr(error, "__notes__", [])]), file=sys.stderr)
        sys.exit(MISCONFIGURED if isinstance(error, SettingsError) else FAILED)


if __name__ == "__main__":
    main()
