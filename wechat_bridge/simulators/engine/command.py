"""``python -m wechat_bridge.simulators engine``: every switch of `EngineOptions` is an option of the command."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys

from pydantic import ValidationError

from wechat_bridge.simulators.engine.simulator import LISTENING, serve
from wechat_bridge.simulators.engine.world import EngineOptions, World

SUMMARY = "a reply engine in the dialects of OpenAI, FastGPT, Dify and a webhook"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--port` and one option per switch."""
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: a free one)")
    for name, field in EngineOptions.model_fields.items():
        text = f"{field.description} (default: {field.default!r})".replace("%", "%%")
        parser.add_argument(f"--{name.replace('_', '-')}", dest=name, default=None, metavar="VALUE", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C; returns the exit status."""
    given = {name: getattr(arguments, name) for name in EngineOptions.model_fields}
    try:
        options = EngineOptions.model_validate({name: value for name, value in given.items() if value is not None})
        asyncio.run(_serve_until_signal(arguments.port, options))
    except (ValidationError, OSError) as error:
        print(f"engine simulator: {error}", file=sys.stderr)
        return 2
    return 0


async def _serve_until_signal(port: int, options: EngineOptions) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    listening: asyncio.Future[str] = loop.create_future()
    listening.add_done_callback(_print_listening)
    await serve(port, World(options), stop, listening)


def _print_listening(listening: asyncio.Future[str]) -> None:
    if not listening.cancelled():
        print(f"{LISTENING}{listening.result()}", flush=True)
