"""What WeCom itself says about an app: its secret, our address, its status, and who may see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.wecom import codes, inspection
from wechat_bridge.channels.wecom.answers import Answer
from wechat_bridge.channels.wecom.inspection import Said
from wechat_bridge.errors import AddressNotTrusted, PlatformUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.doctor.customer_service import of_service
from wechat_bridge.flow.doctor.people import of_people
from wechat_bridge.flow.health.check import Check
from wechat_bridge.model.wecom import WecomAccount
from wechat_bridge.model.wecom_kf import KfAccount

MOST_SKEW_SECONDS = 60.0
"""A callback that is 300 s old is refused (``freshness_seconds``), so a clock that is off by a minute is on its way."""

TEXT = "wechat-bridge doctor：这是一条测试消息，无需回复。"
_TOKEN = {
    40001: ("Secret", "it is wrong, was renewed, or the app is disabled: look it up under 应用管理 > the app > Secret"),
    40013: ("corp id", "WeCom does not know it: copy 企业ID from 我的企业 > 企业信息"),
    40091: ("Secret", "it belongs to another company than the corp id: take both from the same console"),
}
_AGENT = {
    301002: "the Secret is that of another app: take AgentId and Secret from the same page",
    40056: "there is no app of this AgentId: take AgentId and Secret from the same page",
    50003: "the app is disabled: enable it under 应用管理",
}


@dataclass(frozen=True)
class Asked:
    """What an operator wants to know besides: whether ``user_id`` is reached, and whether to ``send`` them a text."""

    user_id: str = ""
    send: bool = False


def of_wecom(bridge: Bridge, http: HttpClient, share_id: str, account: WecomAccount, asked: Asked) -> list[Check]:
    """Ask WeCom about an app. Nothing is changed; a text is sent only where that was asked for."""
    checks: list[Check] = []
    try:
        if account.proxy:
            inspection.check_connects(account.proxy)
            checks.append(Check(name="proxy", ok=True, detail="it takes connections"))
    except PlatformUnavailable as error:
        detail = f"{error}; start it or correct it: wechat-bridge channel app {share_id} --proxy http://HOST:PORT"
        return [Check(name="proxy", ok=False, detail=detail)]
    try:
        said = inspection.ask_token(http, account)
    except PlatformUnavailable as error:
        return [*checks, _unreachable(error, account)]
    checks += _clock(bridge, said)
    if said.answer.code:
        return [*checks, _refused_token(said.answer, share_id)]
    token = said.answer.text("access_token")
    checks += [Check(name="corp id", ok=True, detail=account.corp_id), Check(name="Secret", ok=True, detail="it works")]
    return [*checks, *_of_agent(http, account, token, asked)]


def _unreachable(error: PlatformUnavailable, account: WecomAccount) -> Check:
    way = "through the proxy; is its login right, and may it reach this address?" if account.proxy else "from here"
    return Check(name="WeCom", ok=False, detail=f"{account.base_url} does not answer {way} ({error})")


def _clock(bridge: Bridge, said: Said) -> list[Check]:
    if said.server_time is None:
        return []
    skew = (bridge.clock.now() - said.server_time).total_seconds()
    detail = f"the ledger's clock is {abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'} WeCom's"
    if abs(skew) <= MOST_SKEW_SECONDS:
        return [Check(name="clock", ok=True, detail=detail)]
    advice = "callbacks are refused as too old: set the clock of the MongoDB server (NTP)"
    return [Check(name="clock", ok=False, detail=f"{detail}; {advice}")]


def _refused_token(answer: Answer, share_id: str) -> Check:
    name, advice = _TOKEN.get(answer.code, ("Secret", "WeCom gives no access token"))
    command = f"wechat-bridge channel {'app' if name == 'corp id' else 'secret'} {share_id}"
    ban = "Do not try a wrong one often: WeCom then refuses this address for an hour"
    said = f"gettoken: {answer.code} ({answer.errmsg})"
    if answer.code in _TOKEN:
        return Check(name=name, ok=False, detail=f"{advice}. Then: {command}. {ban}. {said}")
    return Check(name=name, ok=False, detail=str(codes.error_of(answer.code, answer.errmsg, "gettoken")))


def _of_agent(http: HttpClient, account: WecomAccount, token: str, asked: Asked) -> list[Check]:
    try:
        answer = inspection.ask_agent(http, account, token).answer
    except PlatformUnavailable as error:
        return [_unreachable(error, account)]
    if answer.code:
        return [_refused_agent(account, answer)]
    trusted = Check(name="trusted address", ok=True, detail="企业可信IP lets this machine call")
    checks = [trusted, _enabled(account, answer.fields)]
    if isinstance(account, KfAccount):
        return [*checks, *of_service(http, account, token)]
    checks += of_people(answer.fields, asked.user_id)
    return [*checks, _sent(http, account, token, asked.user_id)] if asked.send else checks


def _refused_agent(account: WecomAccount, answer: Answer) -> Check:
    error = codes.error_of(answer.code, answer.errmsg, "agent/get")
    if isinstance(error, AddressNotTrusted):
        address = error.address or "the address from which this bridge calls"
        detail = f"add {address} under 应用管理 > the app > 企业可信IP; it works about a minute later"
        return Check(name="trusted address", ok=False, detail=f"{detail}. agent/get: {answer.code}")
    advice = _AGENT.get(answer.code, str(error))
    return Check(name="agent", ok=False, detail=f"{account.agent_id}: {advice} (agent/get: {answer.code})")


def _enabled(account: WecomAccount, fields: dict[str, Any]) -> Check:
    named = f"{account.agent_id} {fields.get('name', '')}".strip()
    if fields.get("close") == 1:
        return Check(name="agent", ok=False, detail=f"{named} is disabled: enable it under 应用管理")
    return Check(name="agent", ok=True, detail=f"{named} is enabled")


def _sent(http: HttpClient, account: WecomAccount, token: str, user_id: str) -> Check:
    try:
        answer = inspection.send_test(http, account, token, user_id, TEXT).answer
    except PlatformUnavailable as error:
        return Check(name="sending", ok=False, detail=f"what became of it is not known ({error})")
    if answer.code:
        return Check(name="sending", ok=False, detail=str(codes.error_of(answer.code, answer.errmsg, "message/send")))
    if answer.fields.get("invaliduser") or answer.fields.get("unlicenseduser"):
        detail = f"WeCom shows {user_id} nothing: not in the company, outside 可见范围, or without a licence"
        return Check(name="sending", ok=False, detail=detail)
    return Check(name="sending", ok=True, detail=f"WeCom took a text for {user_id}; it should be on their screen")
