"""``python -m wechat_bridge.simulators ilink``: every switch of `IlinkOptions` is an option of the command."""

from __future__ import annotations

import argparse
from functools import partial

from wechat_bridge.simulators.command_line import add_options, run_until_signal
from wechat_bridge.simulators.ilink.options import IlinkOptions
from wechat_bridge.simulators.ilink.simulator import NAME, serve

SUMMARY = "Tencent's iLink bot API and its CDN, for personal WeChat accounts"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--port` and one option per switch."""
    add_options(parser, IlinkOptions)


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C; returns the exit status."""
    return run_until_signal(NAME, arguments, IlinkOptions, lambda port, options: partial(serve, port, options))
