"""``python -m tests.benchmarks COMMAND``; ``--help`` lists the options of each."""

from __future__ import annotations

import argparse

from tests.benchmarks import (
    backlog,
    callbacks,
    demo,
    gateway,
    idle,
    latency,
    lost_replies,
    outage,
    recovery,
    throughput,
)

COMMANDS = {
    "idle": idle,
    "latency": latency,
    "throughput": throughput,
    "recovery": recovery,
    "lost-replies": lost_replies,
    "outage": outage,
    "backlog": backlog,
    "demo": demo,
    "callbacks": callbacks,
    "gateway": gateway,
}


def main() -> None:
    """Run one benchmark."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        module.add_arguments(commands.add_parser(name, help=(module.__doc__ or "").splitlines()[0]))
    options = parser.parse_args()
    COMMANDS[options.command].run(options)


if __name__ == "__main__":
    main()
