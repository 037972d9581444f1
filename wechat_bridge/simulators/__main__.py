"""``python -m wechat_bridge.simulators NAME [options]``: run one simulator on 127.0.0.1 until SIGTERM or Ctrl-C."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence

# Each module offers SUMMARY, add_arguments(parser) and run(arguments); only the chosen one does any work.
SIMULATORS = {
    "ilink": "wechat_bridge.simulators.ilink.command",
    "engine": "wechat_bridge.simulators.engine.command",
    "wecom": "wechat_bridge.simulators.wecom.command",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the named simulator; returns the exit status of the process."""
    arguments = _parser().parse_args(argv)
    status: int = arguments.run(arguments)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m wechat_bridge.simulators", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="NAME")
    for name, path in SIMULATORS.items():
        module = importlib.import_module(path)
        command = commands.add_parser(name, help=module.SUMMARY, description=module.SUMMARY)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
