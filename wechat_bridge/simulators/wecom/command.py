"""``python -m wechat_bridge.simulators wecom``: every switch of `WecomOptions` is an option of the command."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys

from pydantic import ValidationError

from wechat_bridge.simulators.wecom.options import WecomOptions
from wechat_bridge.simulators.wecom.simulator import LISTENING, NONE, serve

SUMMARY = "WeCom (企业微信): callbacks to an app, qyapi, and customer service"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--port` and one option per switch, `--callback-attempts` for `callback_attempts` and so on."""
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: a free one)")
    for name, field in WecomOptions.model_fields.items():
        text = f"{field.description} (default: {field.default})".replace("%", "%%")
        parser.add_argument(f"--{name.replace('_', '-')}", dest=name, default=None, metavar="VALUE", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C; returns the exit status."""
    given = {name: getattr(arguments, name) for name in WecomOptions.model_fields}
    values = {name: None if value == NONE else value for name, value in given.items() if value is not None}
    try:
        options = WecomOptions.model_validate(values)
        asyncio.run(serve_until_signal(arguments.port, options))
    except (ValidationError, OSError) as error:
        print(f"wecom simulator: {error}", file=sys.stderr)
        return 2
    return 0


async def serve_until_signal(port: int, options: WecomOptions) -> None:
    """Serve, print one line once listening, and end at SIGTERM or SIGINT."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    listening: asyncio.Future[str] = loop.create_future()
    listening.add_done_callback(print_listening)
    await serve(port, options, stop, listening)


def print_listening(listening: asyncio.Future[str]) -> None:
    """Tell whoever started the process where to find the server."""
    if not listening.cancelled():
        print(f"{LISTENING}{listening.result()}", flush=True)
