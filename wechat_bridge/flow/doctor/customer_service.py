"""Whether an app may serve its account of customer service (微信客服)."""

from __future__ import annotations

from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.wecom import codes, inspection
from wechat_bridge.errors import PlatformUnavailable
from wechat_bridge.flow.health.check import Check
from wechat_bridge.model.wecom_kf import KfAccount

NAME = "customer service"
MOST_LISTED = 100
_ADVICE = "add the app under 微信客服 > API > 可调用接口的应用, and the account to those that it manages"


def of_service(http: HttpClient, account: KfAccount, token: str) -> Check:
    """Ask WeCom which accounts the app serves."""
    try:
        answer = inspection.ask_services(http, account, token).answer
    except PlatformUnavailable as error:
        return Check(name=NAME, ok=False, detail=f"kf/account/list is not answered ({error})")
    if answer.code:
        said = codes.error_of(answer.code, answer.errmsg, "kf/account/list")
        return Check(name=NAME, ok=False, detail=f"{_ADVICE}. {said}")
    rows = answer.fields.get("account_list")
    listed = [str(row.get("open_kfid", "")) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    if account.open_kfid in listed or len(listed) >= MOST_LISTED:
        return Check(name=NAME, ok=True, detail=f"the app may serve {account.open_kfid}")
    others = f"it serves {', '.join(listed)}" if listed else "it serves none"
    return Check(name=NAME, ok=False, detail=f"{account.open_kfid} is not the app's, {others}: {_ADVICE}")
