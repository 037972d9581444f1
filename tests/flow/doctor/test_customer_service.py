"""`doctor` on an account of customer service: is it the app's, does WeCom ring for it, and where is it opened?"""

from __future__ import annotations

from tests.flow.doctor.test_look import problem
from tests.support.customer_world import CustomerWorld, kf_settings_of
from tests.support.wecom_world import secrets_of
from wechat_bridge.flow.customer_service.channel import add_customer_service
from wechat_bridge.flow.doctor.look import Asked, Diagnosis, diagnose
from wechat_bridge.flow.health.check import Check
from wechat_bridge.simulators.wecom import AppCredentials, WecomControl
from wechat_bridge.wiring import Wired


def service_for(wired: Wired, console: AppCredentials, open_kfid: str) -> Diagnosis:
    """What is said of a channel of customer service."""
    settings = kf_settings_of(console, open_kfid)
    share_id = f"kf-{console['agent_id']}-{open_kfid[-4:].lower().replace('_', '-')}"
    channel = add_customer_service(wired.bridge, share_id, settings, secrets_of(console))
    return diagnose(wired.bridge, wired.http, channel, Asked())


def test_an_account_of_customer_service_has_to_be_the_apps(
    wired: Wired, console: AppCredentials, wecom: WecomControl
) -> None:
    open_kfid = wecom.create_kf_account(console["app"])
    checks = {check.name: check for check in service_for(wired, console, open_kfid).checks}
    assert checks["customer service"].detail == f"the app may serve {open_kfid} 客服"
    assert f"customers open it at https://work.weixin.qq.com/kfid/kfc{open_kfid[2:]}" in checks["link"].detail
    assert "visible range" not in checks
    assert "visible range" not in checks
    checks = {check.name: check for check in service_for(wired, console, "wkStranger").checks}
    assert f"it serves {open_kfid}: add the app under 微信客服" in problem(checks, "customer service")
    wecom.script("kf/account/list", errcode=48002)
    checks = {check.name: check for check in service_for(wired, console, "wkRefused").checks}
    assert "48002" in problem(checks, "customer service")


def test_an_account_that_wecom_gives_no_link_to_is_opened_from_the_console(
    wired: Wired, console: AppCredentials, wecom: WecomControl
) -> None:
    wecom.script("kf/add_contact_way", errcode=48002)
    open_kfid = wecom.create_kf_account(console["app"])
    checks = {check.name: check for check in service_for(wired, console, open_kfid).checks}
    assert "微信客服 > 客服账号" in problem(checks, "link")
    assert checks["link"].warning
    wecom.script("kf/account/list", cut=True)
    other = wecom.create_kf_account(console["app"])
    checks = {check.name: check for check in service_for(wired, console, other).checks}
    assert "does not say" in problem(checks, "customer service")


def test_whether_wecom_rings_for_an_account_is_told(wired: Wired, console: AppCredentials, wecom: WecomControl) -> None:
    service = CustomerWorld.of_account(wired, wecom)

    def doorbells() -> Check:
        found = diagnose(wired.bridge, wired.http, service.channel, Asked()).checks
        return next(check for check in found if check.name == "doorbells")

    assert ("has not rung yet" in doorbells().detail, doorbells().warning) == (True, True)
    service.say("hello")
    service.pull()
    assert ("every five minutes only" in doorbells().detail, doorbells().warning) == (True, False)
    wired.bridge.channels.note_callback(service.share_id, wired.bridge.clock.now(), is_message=False)
    assert doorbells().ok
