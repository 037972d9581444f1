"""``python -m wechat_bridge.simulators wecom``: every switch of `WecomOptions` is an option of the command."""

from __future__ import annotations

import argparse
from functools import partial

from wechat_bridge.simulators.command_line import add_options, run_until_signal
from wechat_bridge.simulators.wecom.options import WecomOptions
from wechat_bridge.simulators.wecom.simulator import NAME, serve

SUMMARY = "WeCom (企业微信): callbacks to an app, qyapi, and customer service"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--port` and one option per switch."""
    add_options(parser, WecomOptions)


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C; returns the exit status."""
    return run_until_signal(NAME, arguments, WecomOptions, lambda port, options: partial(serve, port, options))
