"""`wechat-bridge health`."""

from __future__ import annotations

from typing import Annotated

import typer

from wechat_bridge.cli.console import print_json, print_table
from wechat_bridge.cli.session import connected
from wechat_bridge.flow.health.check import Check
from wechat_bridge.flow.health.report import report


def health(as_json: Annotated[bool, typer.Option("--json", help="Machine readable.")] = False) -> None:
    """Tell whether messages flow, and what to do where they do not. The exit code is 1 when they do not."""
    with connected(prepare=False) as wired:
        wired.follower.load()  # what it is judged by may have been changed
        found = report(wired.bridge)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_table(("", "CHECK", "DETAIL"), [(_mark(check), check.name, check.detail) for check in found.checks])
    raise typer.Exit(0 if found.ok else 1)


def _mark(check: Check) -> str:
    if check.ok:
        return "ok"
    return "look" if check.warning else "FAILED"
