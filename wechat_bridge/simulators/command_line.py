"""The command of a simulator: every switch of its options model is an option, and it runs until a signal."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import TypeVar, get_args

from pydantic import BaseModel, ValidationError

from wechat_bridge.simulators.running import NONE, Serve, listening_line

Options = TypeVar("Options", bound=BaseModel)


def add_options(parser: argparse.ArgumentParser, model: type[BaseModel]) -> None:
    """Add `--port` and one option per switch, `--hold-seconds` for `hold_seconds` and so on."""
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: a free one)")
    for name, field in model.model_fields.items():
        text = f"{field.description} (default: {field.default!r})".replace("%", "%%")
        parser.add_argument(f"--{name.replace('_', '-')}", dest=name, default=None, metavar="VALUE", help=text)


def run_until_signal(
    name: str, arguments: argparse.Namespace, model: type[Options], server: Callable[[int, Options], Serve]
) -> int:
    """Serve on the port and with the switches given, until SIGTERM or Ctrl-C; returns the exit status."""
    try:
        serve = server(arguments.port, _options(arguments, model))
        asyncio.run(_serve_until_signal(name, serve))
    except (ValidationError, OSError) as error:
        print(f"{name} simulator: {error}", file=sys.stderr)
        return 2
    return 0


def _options(arguments: argparse.Namespace, model: type[Options]) -> Options:
    """The switches given; `none` turns one off that can be off. Raises ValidationError."""
    given = {name: getattr(arguments, name) for name in model.model_fields}
    can_be_off = {name for name, field in model.model_fields.items() if type(None) in get_args(field.annotation)}
    return model.model_validate({
        name: None if value == NONE and name in can_be_off else value
        for name, value in given.items()
        if value is not None
    })  # fmt: skip


async def _serve_until_signal(name: str, serve: Serve) -> None:
    """Serve, print one line once listening, and end at SIGTERM or SIGINT."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    listening: asyncio.Future[str] = loop.create_future()
    listening.add_done_callback(partial(_print_listening, name))
    await serve(stop, listening)


def _print_listening(name: str, listening: asyncio.Future[str]) -> None:
    """Tell whoever started the process where to find the server."""
    if not listening.cancelled():
        print(f"{listening_line(name)}{listening.result()}", flush=True)
