"""`wechat-bridge doctor`, with the web process and the simulated WeCom that it looks at."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.support.wecom_world import secrets_of, settings_of
from tests.web.conftest import WebProcess, web
from wechat_bridge.flow.wecom.app import add_app
from wechat_bridge.model.channel import Channel
from wechat_bridge.simulators.wecom import AppCredentials, WecomControl, WecomSimulator
from wechat_bridge.store.vault import new_key
from wechat_bridge.wiring import Wired

__all__ = ["web"]


@pytest.fixture(scope="module")
def control(simulated_wecom: WecomSimulator) -> WecomControl:
    return simulated_wecom.control


@pytest.fixture(scope="module")
def console(wired: Wired, control: WecomControl) -> AppCredentials:
    """An app with a channel of the name desk."""
    app = control.create_app()
    add_app(wired.bridge, "desk", settings_of(app), secrets_of(app))
    return app


def checks_of(report: list[dict[str, Any]], share_id: str) -> dict[str, dict[str, Any]]:
    [found] = [each for each in report if each["share_id"] == share_id]
    return {check["name"]: check for check in found["checks"]}


def test_a_bridge_without_channels_has_nothing_to_look_at(cli: Cli, wired: Wired) -> None:
    wired.bridge.channels.collection.delete_many({})
    done = cli("doctor")
    assert (done.returncode, done.stdout) == (0, "")
    assert "there are no channels yet" in done.stderr


def test_an_app_that_works_passes_from_end_to_end(
    cli: Cli, web: WebProcess, console: AppCredentials, control: WecomControl
) -> None:
    done = cli("doctor", "desk", PUBLIC_BASE_URL=f"http://127.0.0.1:{web.port}")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    for name in ("callback URL", "EncodingAESKey", "clock", "corp id", "Secret", "trusted address", "agent"):
        assert re.search(rf"(?m)^desk +ok +{name} ", done.stdout), done.stdout
    assert re.search(r"(?m)^desk +look +https +", done.stdout)
    for secret in (console["secret"], console["token"], console["encoding_aes_key"]):
        assert secret not in done.stdout
    assert control.deliveries(app=console["app"]) == []


def test_a_problem_is_named_with_what_to_change_and_makes_the_exit_code_1(
    cli: Cli, web: WebProcess, console: AppCredentials, control: WecomControl
) -> None:
    control.set_app(console["app"], token="renewed-in-the-console", trusted_ips=["203.0.113.9"])
    try:
        done = cli("doctor", "desk", "--json", PUBLIC_BASE_URL=f"http://127.0.0.1:{web.port}/bridge")
    finally:
        control.set_app(console["app"], token=console["token"], trusted_ips=None)
    report = json.loads(done.stdout)
    checks = checks_of(report, "desk")
    assert (done.returncode, report[0]["ok"], report[0]["kind"]) == (1, False, "wecom")
    assert "the path is lost" in checks["callback URL"]["detail"]
    assert "add 127.0.0.1 under 应用管理 > the app > 企业可信IP" in checks["trusted address"]["detail"]


@pytest.mark.slow
def test_a_web_process_that_cannot_open_the_credentials_does_not_pass_for_a_good_one(
    cli: Cli, urls: tuple[str, str], repository: Path, console: AppCredentials, tmp_path: Path
) -> None:
    with WebProcess(repository, tmp_path, urls, WECHAT_BRIDGE_SECRET_KEYS=new_key()) as keyless:
        done = cli("doctor", "desk", "--json", PUBLIC_BASE_URL=f"http://127.0.0.1:{keyless.port}")
    assert done.returncode == 1
    assert "a bridge with another ledger or key" in checks_of(json.loads(done.stdout), "desk")["callback URL"]["detail"]


def test_a_person_is_looked_for_and_written_to_only_on_request(
    cli: Cli, console: AppCredentials, control: WecomControl
) -> None:
    control.set_app(console["app"], visible_users=["ann"])
    asked = json.loads(cli("doctor", "desk", "--user", "bob", "--json").stdout)
    assert "bob is outside the 可见范围" in checks_of(asked, "desk")["person"]["detail"]
    assert control.deliveries(app=console["app"]) == []
    sent = json.loads(cli("doctor", "desk", "--send-to", "ann", "--json").stdout)
    assert checks_of(sent, "desk")["sending"]["ok"]
    assert [row["user_id"] for row in control.deliveries(app=console["app"])] == ["ann"]


@pytest.mark.parametrize("arguments", [("--send-to", "ann"), ("desk", "--send-to", "@all"), ("desk", "--user", "a|b")])
def test_nobody_is_written_to_by_mistake(
    cli: Cli, console: AppCredentials, control: WecomControl, arguments: tuple[str, ...]
) -> None:
    before = len(control.calls())
    assert cli("doctor", *arguments).returncode == 2
    assert len(control.calls()) == before


def test_all_channels_are_looked_at_and_one_bad_one_is_enough(cli: Cli, wired: Wired, console: AppCredentials) -> None:
    wired.bridge.channels.add(Channel(id="personal"))
    done = cli("doctor")
    assert done.returncode == 1
    assert re.search(r"(?m)^desk +problem +callback URL +PUBLIC_BASE_URL is not set", done.stdout)
    assert re.search(
        r"(?m)^personal +problem +login +never logged in: scan a code with wechat-bridge channel login personal",
        done.stdout,
    )
    assert cli("doctor", "personal", "--user", "ann").returncode == 1


def test_a_channel_that_does_not_exist_is_an_error(cli: Cli) -> None:
    done = cli("doctor", "nobody")
    assert (done.returncode, done.stdout) == (1, "")
    assert "error: there is no channel nobody" in done.stderr
