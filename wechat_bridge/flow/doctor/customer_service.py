"""An account of customer service (微信客服): may the app serve it, does WeCom ring for it, and where is it opened?"""

from __future__ import annotations

from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.wecom import inspection
from wechat_bridge.channels.wecom.answers import Answer
from wechat_bridge.channels.wecom.kf_codes import kf_error_of
from wechat_bridge.errors import PlatformUnavailable
from wechat_bridge.flow.doctor.url import PAGE
from wechat_bridge.flow.health.check import Check
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.wecom_kf import KfAccount

NAME, LINK, DOORBELLS = "customer service", "link", "doorbells"
MOST_LISTED = 100
_BIND = "add the app under 微信客服 > API > 可调用接口的应用, and the account to those that it manages"
_OPEN = "open the account as a customer does, with the link or code under 微信客服 > 客服账号"


def of_service(http: HttpClient, account: KfAccount, token: str) -> list[Check]:
    """Ask WeCom which accounts the app serves, and where this one is opened. Nothing is changed."""
    try:
        served = _served(account, inspection.ask_services(http, account, token).answer)
        return [served, _link(inspection.ask_link(http, account, token).answer)] if served.ok else [served]
    except PlatformUnavailable as error:
        return [Check(name=NAME, ok=False, detail=f"WeCom does not say whether the app may serve it ({error})")]


def rung(channel: Channel) -> Check:
    """Whether WeCom rings when customers write. It shows only in what comes; without it they wait for minutes."""
    if channel.last_callback_at is not None:
        return Check(name=DOORBELLS, ok=True, detail=f"the last at {channel.last_callback_at:%Y-%m-%d %H:%M:%S} UTC")
    enter = f"enter the callback URL under {PAGE} of the app, and nowhere else"
    if channel.last_message_at is None:
        detail = f"WeCom has not rung yet: {enter}; then {_OPEN} and write"
        return Check(name=DOORBELLS, ok=False, detail=detail, warning=True)
    detail = f"customers are read every five minutes only, because WeCom does not ring: {enter}"
    return Check(name=DOORBELLS, ok=False, detail=detail)


def _served(account: KfAccount, answer: Answer) -> Check:
    if answer.code:
        return Check(name=NAME, ok=False, detail=f"{_BIND}. {kf_error_of(answer, 'kf/account/list')}")
    rows = answer.fields.get("account_list")
    listed = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    names = {str(row.get("open_kfid", "")): str(row.get("name", "")) for row in listed}
    if account.open_kfid in names or len(names) >= MOST_LISTED:
        named = f"{account.open_kfid} {names.get(account.open_kfid, '')}".strip()
        return Check(name=NAME, ok=True, detail=f"the app may serve {named}")
    others = f"it serves {', '.join(names)}" if names else "it serves none"
    detail = f"{account.open_kfid} is not among the accounts of the app, {others}: {_BIND}; if it was deleted, or its "
    detail += "open_kfid is mistyped, remove the channel and add one for the right account"
    return Check(name=NAME, ok=False, detail=detail)


def _link(answer: Answer) -> Check:
    url = answer.text("url")
    if answer.code or not url:
        return Check(name=LINK, ok=False, detail=f"WeCom gives none ({answer.code}); {_OPEN}", warning=True)
    return Check(name=LINK, ok=True, detail=f"customers open it at {url}")
