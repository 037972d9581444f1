"""`wechat-bridge health`."""

from __future__ import annotations

import json

from tests.cli.conftest import Cli
from wechat_bridge.local.ports import free_port


def test_a_bridge_without_workers_is_not_healthy_and_says_why(cli: Cli) -> None:
    done = cli("health")
    assert done.returncode == 1
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert any("poll_workers" in line for line in failed)
    assert any(line.startswith("ok") and "ledger" in line for line in done.stdout.splitlines())


def test_the_report_is_machine_readable(cli: Cli) -> None:
    done = cli("health", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"]) == (1, False)
    assert {"name", "ok", "detail", "warning"} <= set(report["checks"][0])


def test_servers_that_are_away_are_part_of_the_report(cli: Cli) -> None:
    done = cli("health", "--json", REDIS_URL=f"redis://127.0.0.1:{free_port()}/0")
    broker = next(check for check in json.loads(done.stdout)["checks"] if check["name"] == "broker")
    assert (done.returncode, broker["ok"]) == (1, False)
    assert "Traceback" not in done.stderr
