"""``/livez`` and ``/readyz`` as a probe or a person meets them."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from tests.support import healthy
from tests.support.system import wait_until
from tests.web.conftest import WebProcess
from wechat_bridge.flow.context import Bridge
from wechat_bridge.wiring import Wired


@pytest.fixture
def bridge(web: WebProcess, wired: Wired) -> Bridge:
    """An empty ledger; the processes announce themselves anew."""
    return healthy.empty(wired)


def checks(web: WebProcess) -> dict[str, Any]:
    return {check["name"]: check for check in web.get("/readyz").json()["checks"]}


def test_livez_says_that_the_process_is_alive(web: WebProcess) -> None:
    answer = web.get("/livez")
    assert (answer.status_code, answer.json()) == (200, {"ok": True})
    assert answer.headers["Cache-Control"] == "no-store"


def test_a_probe_may_ask_for_the_head_only(web: WebProcess) -> None:
    answer = requests.head(f"http://127.0.0.1:{web.port}/livez", timeout=10)
    assert (answer.status_code, answer.text) == (200, "")


def test_readyz_is_503_and_says_what_is_missing(web: WebProcess, bridge: Bridge) -> None:
    wait_until(lambda: not checks(web)["poll_workers"]["ok"], 5, "the missing poll worker is noticed")
    answer = web.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["ok"] is False
    assert "start the process poll" in checks(web)["poll_workers"]["detail"]


def test_readyz_is_200_when_messages_flow_even_if_a_login_is_needed(web: WebProcess, bridge: Bridge) -> None:
    healthy.announce_all(bridge)
    healthy.add_channel(bridge, "fine")
    healthy.add_channel(bridge, "gone", status="error", status_reason="login_needed")
    wait_until(lambda: web.status("/readyz") == 200, 5, "readyz is green")
    assert web.get("/readyz").json()["ok"] is True
    assert checks(web)["channels"]["ok"] is False
    assert "wechat-bridge channel login gone" in checks(web)["channels"]["detail"]


def test_the_process_is_seen_in_the_ledger_as_web(web: WebProcess, bridge: Bridge) -> None:
    wait_until(lambda: any(worker.kind == "web" for worker in bridge.workers.all()), 10, "the process is seen")
    assert any(f":{web.pid}:" in worker.id for worker in bridge.workers.all())
