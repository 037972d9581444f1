"""``python -m wechat_bridge.simulators engine``: every switch of `EngineOptions` is an option of the command."""

from __future__ import annotations

import argparse
from functools import partial

from wechat_bridge.simulators.command_line import add_options, run_until_signal
from wechat_bridge.simulators.engine.simulator import NAME, serve
from wechat_bridge.simulators.engine.world import EngineOptions, World

SUMMARY = "a reply engine in the dialects of OpenAI, FastGPT, Dify and a webhook"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--port` and one option per switch."""
    add_options(parser, EngineOptions)


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C; returns the exit status."""
    return run_until_signal(NAME, arguments, EngineOptions, lambda port, options: partial(serve, port, World(options)))
