"""`doctor` on an app of WeCom: what the simulated WeCom says about it, in words that say what to change where."""

from __future__ import annotations

from email.utils import format_datetime
from typing import Any

import pytest

from tests.channels.scripted_server import ScriptedServer
from tests.support.wecom_app import SECRETS, App
from wechat_bridge.errors import AddressNotTrusted
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.doctor.look import Asked, Diagnosis, diagnose
from wechat_bridge.flow.health.check import Check
from wechat_bridge.flow.wecom.held import begin_hold
from wechat_bridge.local.ports import free_port
from wechat_bridge.simulators.wecom import AppCredentials, WecomControl
from wechat_bridge.wiring import Wired


@pytest.fixture
def bridge(wired: Wired) -> Bridge:
    return wired.bridge


def channel_for(bridge: Bridge, console: AppCredentials, secret: str = "", **settings: Any) -> App:
    """A channel for an app, set up as the console says except for what is given."""
    given = {"secret": secret or console["secret"], "token": console["token"]}
    chosen = {name: console[name] for name in ("corp_id", "agent_id", "api_base_url")}
    return App.create(bridge, SECRETS.model_copy(update=given), **chosen | settings)


def looked(wired: Wired, app: App, user: str = "", *, send: bool = False) -> Diagnosis:
    channel = wired.bridge.channels.get(app.share_id)
    assert channel is not None
    return diagnose(wired.bridge, wired.http, channel, Asked(user, send))


def found(wired: Wired, app: App, user: str = "", *, send: bool = False) -> dict[str, Check]:
    return {check.name: check for check in looked(wired, app, user, send=send).checks}


def problem(checks: dict[str, Check], name: str) -> str:
    """What is said about a thing that has to be changed."""
    assert not checks[name].ok
    return checks[name].detail


def test_an_app_that_works_has_nothing_to_be_changed_at_wecom(wired: Wired, console: AppCredentials) -> None:
    checks = found(wired, channel_for(wired.bridge, console))
    good = ["EncodingAESKey", "clock", "corp id", "Secret", "trusted address", "agent", "visible range"]
    assert [name for name in good if not checks[name].ok] == []
    assert set(checks) - set(good) == {"callback URL", "callbacks"}
    assert "1 departments" in checks["visible range"].detail


def test_looking_asks_wecom_twice_and_sends_nobody_anything(
    wired: Wired, console: AppCredentials, wecom: WecomControl
) -> None:
    app = channel_for(wired.bridge, console)
    before = wired.bridge.channels.get(app.share_id)
    found(wired, app, "ann")
    assert [call["path"] for call in wecom.calls()] == ["/cgi-bin/gettoken", "/cgi-bin/agent/get"]
    assert wired.bridge.channels.get(app.share_id) == before


def test_a_wrong_secret_is_told_from_a_wrong_corp_id(
    wired: Wired, console: AppCredentials, wecom: WecomControl
) -> None:
    wrong = found(wired, channel_for(wired.bridge, console, secret="w" * 43))
    assert "应用管理" in problem(wrong, "Secret")
    assert "wechat-bridge channel secret app-" in problem(wrong, "Secret")
    assert "40001" in problem(wrong, "Secret")
    unknown = found(wired, channel_for(wired.bridge, console, corp_id="ww0000000000000000"))
    assert "企业ID" in problem(unknown, "corp id")
    assert "40013" in problem(unknown, "corp id")
    other = wecom.create_app()
    mixed = found(wired, channel_for(wired.bridge, console, secret=other["secret"]))
    assert "another company" in problem(mixed, "Secret")
    assert all("trusted address" not in checks for checks in (wrong, unknown, mixed))


def test_no_secret_is_in_any_finding(wired: Wired, console: AppCredentials, wecom: WecomControl) -> None:
    wecom.script("gettoken", errcode=40001, errmsg=f"invalid secret {console['secret']}")
    app = channel_for(wired.bridge, console)
    for text in (repr(looked(wired, app)), repr(looked(wired, app, "ann", send=True))):
        for secret in (console["secret"], console["token"], SECRETS.encoding_aes_key):
            assert secret not in text


def test_an_address_that_is_not_trusted_is_named(wired: Wired, console: AppCredentials, wecom: WecomControl) -> None:
    wecom.set_app(console["app"], trusted_ips=["203.0.113.9"])
    wecom.set_options(source_ip="198.51.100.7")
    checks = found(wired, channel_for(wired.bridge, console))
    assert "add 198.51.100.7 under 应用管理 > the app > 企业可信IP" in problem(checks, "trusted address")
    assert "agent" not in checks


def test_a_secret_of_another_app_of_the_company_is_noticed(
    wired: Wired, console: AppCredentials, wecom: WecomControl
) -> None:
    other = wecom.create_app(corp_id=console["corp_id"])
    checks = found(wired, channel_for(wired.bridge, console, secret=other["secret"]))
    assert "take AgentId and Secret from the same page" in problem(checks, "agent")


@pytest.mark.parametrize("code", [40056, 48002, 50003])
def test_a_refused_look_at_the_app_says_what_wecom_said(
    wired: Wired, console: AppCredentials, wecom: WecomControl, code: int
) -> None:
    wecom.script("agent/get", errcode=code)
    assert str(code) in problem(found(wired, channel_for(wired.bridge, console)), "agent")


def test_a_disabled_app_is_noticed(wired: Wired, console: AppCredentials, wecom: WecomControl) -> None:
    people = {"allow_userinfos": {"user": [{"userid": "ann"}]}}
    wecom.script("agent/get", answer={"errcode": 0, "name": "shop", "close": 1, **people})
    assert "shop is disabled: enable it under 应用管理" in problem(
        found(wired, channel_for(wired.bridge, console)), "agent"
    )


def test_an_empty_visible_range_is_noticed(wired: Wired, console: AppCredentials, wecom: WecomControl) -> None:
    wecom.set_app(console["app"], visible_users=[])
    assert "可见范围 is empty" in problem(found(wired, channel_for(wired.bridge, console)), "visible range")


def test_a_member_outside_the_visible_range_is_noticed(
    wired: Wired, console: AppCredentials, wecom: WecomControl
) -> None:
    wecom.set_app(console["app"], visible_users=["Ann"])
    app = channel_for(wired.bridge, console)
    assert "bob is outside the 可见范围 and gets nothing (81013)" in problem(found(wired, app, "bob"), "person")
    assert found(wired, app, "ann")["person"].ok
    wecom.set_app(console["app"], visible_users=None)
    assert "--send-to finds out" in found(wired, app, "bob")["person"].detail


def test_a_test_message_is_shown_to_whom_it_was_asked_for(
    wired: Wired, console: AppCredentials, wecom: WecomControl
) -> None:
    app = channel_for(wired.bridge, console)
    assert found(wired, app, "ann", send=True)["sending"].ok
    [shown] = wecom.deliveries(app=console["app"])
    assert (shown["user_id"], "测试消息" in shown["text"]) == ("ann", True)
    wecom.set_app(console["app"], visible_users=["ann"])
    refused = problem(found(wired, app, "bob", send=True), "sending")
    assert "81013" in refused
    assert "可见范围" in refused
    wecom.script("message/send", answer={"errcode": 0, "errmsg": "ok", "invaliduser": "ann"})
    assert "shows ann nothing" in problem(found(wired, app, "ann", send=True), "sending")
    wecom.script("message/send", cut=True)
    assert "not known" in problem(found(wired, app, "ann", send=True), "sending")
    assert len(wecom.deliveries(app=console["app"])) == 1


@pytest.mark.parametrize(("seconds", "word"), [(-400, "behind"), (400, "ahead of")])
def test_a_clock_that_is_wrong_is_noticed(
    wired: Wired, console: AppCredentials, wecom: WecomControl, seconds: int, word: str
) -> None:
    theirs = wired.bridge.clock.after(-seconds)
    wecom.script("gettoken", headers={"Date": format_datetime(theirs, usegmt=True)})
    detail = problem(found(wired, channel_for(wired.bridge, console)), "clock")
    assert f"s {word} WeCom's; callbacks are refused as too old: set the clock" in detail


@pytest.mark.parametrize("date", ["", "yesterday"])
def test_a_server_that_does_not_tell_the_time_says_nothing_about_the_clock(
    wired: Wired, console: AppCredentials, wecom: WecomControl, date: str
) -> None:
    wecom.script("gettoken", headers={"Date": date})
    checks = found(wired, channel_for(wired.bridge, console))
    assert "clock" not in checks
    assert checks["Secret"].ok


def test_wecom_that_does_not_answer_is_told_from_a_wrong_secret(
    wired: Wired, console: AppCredentials, wecom: WecomControl
) -> None:
    nowhere = found(wired, channel_for(wired.bridge, console, api_base_url=f"http://127.0.0.1:{free_port()}"))
    assert "does not answer from here" in problem(nowhere, "WeCom")
    wecom.script("gettoken", body="<html>login</html>", status=502)
    assert "HTTP 502" in problem(found(wired, channel_for(wired.bridge, console)), "WeCom")
    wecom.script("agent/get", cut=True)
    assert "does not answer" in problem(found(wired, channel_for(wired.bridge, console)), "WeCom")


def test_a_proxy_that_is_away_is_told_from_one_that_does_not_let_us_through(
    wired: Wired, console: AppCredentials
) -> None:
    proxy = f"http://127.0.0.1:{free_port()}"
    detail = problem(found(wired, channel_for(wired.bridge, console, proxy=proxy)), "proxy")
    assert f"{proxy.removeprefix('http://')} cannot be reached (Connection refused)" in detail
    assert "wechat-bridge channel app app-" in detail
    with ScriptedServer(lambda exchange: exchange.answer(b"", "407 Proxy Authentication Required")) as refusing:
        checks = found(wired, channel_for(wired.bridge, console, proxy=refusing.url))
    assert checks["proxy"].ok
    assert "is its login right" in problem(checks, "WeCom")


def test_credentials_that_cannot_be_used_end_the_look_with_what_to_do(wired: Wired, console: AppCredentials) -> None:
    app = channel_for(wired.bridge, console)
    wired.bridge.accounts.log_out(app.share_id)
    [check] = looked(wired, app).checks
    assert f"has no credentials; give them again: wechat-bridge channel secret {app.share_id}" in check.detail
    short = SECRETS.model_copy(update={"encoding_aes_key": "too-short"}).model_dump_json()
    sealed = {"sealed_account": wired.bridge.channels.vault.seal_text(short)}
    wired.bridge.channels.configure(app.share_id, sealed)
    [check] = looked(wired, app).checks
    assert (check.name, check.ok) == ("EncodingAESKey", False)
    assert "43 letters and digits: copy it from 接收消息服务器配置" in check.detail
    assert "too-short" not in check.detail


def test_a_disabled_channel_is_no_problem_but_said(wired: Wired, console: AppCredentials) -> None:
    app = channel_for(wired.bridge, console)
    wired.bridge.channels.set_enabled(app.share_id, False, wired.bridge.clock.now())
    check = found(wired, app)["enabled"]
    assert (check.ok, check.warning) == (False, True)
    assert f"wechat-bridge channel enable {app.share_id}" in check.detail


def test_whether_wecom_has_ever_called_is_said(wired: Wired, console: AppCredentials) -> None:
    app = channel_for(wired.bridge, console)
    assert "接收消息服务器配置" in problem(found(wired, app), "callbacks")
    wired.bridge.channels.note_callback(app.share_id, wired.bridge.clock.now(), is_message=True)
    assert found(wired, app)["callbacks"].ok


def test_a_bridge_without_a_public_address_is_told_to_set_one(wired: Wired, console: AppCredentials) -> None:
    diagnosis = looked(wired, channel_for(wired.bridge, console))
    assert not diagnosis.ok
    [url] = [check for check in diagnosis.checks if check.name == "callback URL"]
    assert url.detail.startswith("PUBLIC_BASE_URL is not set")


def test_replies_that_are_held_are_said_to_go_out_by_themselves(
    wired: Wired, console: AppCredentials, wecom: WecomControl
) -> None:
    app = channel_for(wired.bridge, console)
    channel = wired.bridge.channels.get(app.share_id)
    assert channel is not None
    begin_hold(wired.bridge, channel, AddressNotTrusted("add 198.51.100.7", 60020, "198.51.100.7"))
    check = found(wired, app)["replies"]
    assert (check.ok, check.warning) == (False, True)
    assert "go out by themselves minutes after it works again: add 198.51.100.7" in check.detail
