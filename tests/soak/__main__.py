"""The soak: messages through real processes while everything is killed, frozen, restarted and cut.

``python -m tests.soak --messages 10000 --seed 1``; the exit code is 1 when a message was lost or answered twice.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from rich.console import Console

from tests.soak.guards import GUARDS, plan_for
from tests.soak.plan import Plan
from tests.soak.report import show
from tests.soak.run import run
from wechat_bridge.observe import logging


def main() -> int:
    """Run, report, and return the exit code."""
    options = _parser().parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="wechat-bridge-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    if options.without:
        # This process builds the indexes first, so the guard is off here too.
        import_module("tests.soak.plugin.soak_guards").switch_off(options.without)
    with (folder / "driver.log").open("a", encoding="utf-8") as log:
        logging.configure(stream=log)
        outcome = run(_plan(options), folder)
    show(outcome, Console(width=120))
    sys.stderr.write(f"data and logs are in {folder}\n")
    return 1 if outcome.verdict.violations else 0


def _plan(options: argparse.Namespace) -> Plan:
    given = {"messages", "seed", "cursor", "channels", "apps", "accounts", "users", "without"}
    plan = Plan(**{name: value for name, value in vars(options).items() if name in given})
    guard = options.without or options.aim_at
    return plan_for(plan, guard) if guard else plan


def _parser() -> argparse.ArgumentParser:
    default = Plan()
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--messages", type=int, default=default.messages)
    parser.add_argument("--seed", type=int, default=default.seed, help="the same seed gives the same schedule")
    parser.add_argument("--cursor", choices=("strict", "redeliver"), default=default.cursor)
    parser.add_argument("--channels", type=int, default=default.channels)
    parser.add_argument("--apps", type=int, default=default.apps, help="apps of WeCom")
    parser.add_argument("--accounts", type=int, default=default.accounts, help="accounts of WeCom's customer service")
    parser.add_argument("--users", type=int, default=default.users)
    parser.add_argument("--without", choices=sorted(GUARDS), default="", help="a short run without a guard: red")
    parser.add_argument("--aim-at", choices=sorted(GUARDS), help="the same short run with the guard on")
    parser.add_argument("--folder", type=Path, help="keeps data and logs (default: a new temporary one)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
