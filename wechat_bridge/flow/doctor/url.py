"""Whether a callback URL would pass WeCom's own check, and what stands in its way if not."""

from __future__ import annotations

from wechat_bridge.channels.http import AnswerBroken, DeadlineExceeded, HttpClient, HttpError, NotSent, ReadTimedOut
from wechat_bridge.channels.wecom.url_check import CONSOLE_SECONDS, UrlAnswer, check_url
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.health.check import Check
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.wecom import WecomAccount

NAME = "callback URL"
PAGE = "接收消息服务器配置"
NOT_SET = (
    "PUBLIC_BASE_URL is not set: WeCom calls from outside, so set it to the address of your proxy, "
    f"then enter that address with /wecom/SHARE_ID under {PAGE}"
)

_AWAY = "the proxy there does not reach the web process of the bridge; start it, or correct the address in the proxy"
_STATUS = {
    400: "our web process finds the query broken: the proxy changes or cuts it, or EncodingAESKey there is another",
    401: "the proxy there asks for a login; let WeCom through without one",
    403: "it does not know this channel or its Token: a proxy that refuses, or a bridge with another ledger or key",
    404: "the path is lost: the proxy has to hand on .../wecom/SHARE_ID, without the path prefix of PUBLIC_BASE_URL",
    405: "GET is not let through; the proxy has to hand on GET and POST",
    502: _AWAY,
    503: _AWAY,
    504: _AWAY,
}


def callback_url(bridge: Bridge, share_id: str) -> str:
    """Return the address to be entered in WeCom's console; "" when PUBLIC_BASE_URL is not set."""
    base = bridge.settings.public_base_url
    return f"{base}/wecom/{share_id}" if base else ""


def of_url(bridge: Bridge, http: HttpClient, channel: Channel, account: WecomAccount) -> list[Check]:
    """Ask the channel's callback URL as WeCom would, from this machine; once, and nothing is stored."""
    url = callback_url(bridge, channel.id)
    if not url:
        return [Check(name=NAME, ok=False, detail=NOT_SET)]
    checks = [_asked(bridge, http, account, url)]
    if url.startswith("http://"):
        detail = f"{url} is not https: whoever is in between sees who writes when; put a certificate in front"
        checks.append(Check(name="https", ok=False, detail=detail, warning=True))
    return checks


def _asked(bridge: Bridge, http: HttpClient, account: WecomAccount, url: str) -> Check:
    try:
        complaint = complaint_about(check_url(http, account, url, bridge.clock.now()))
    except HttpError as error:
        complaint = complaint_about_failure(error)
    if complaint:
        return Check(name=NAME, ok=False, detail=f"{url}: {complaint}")
    return Check(name=NAME, ok=True, detail=f"{url} answers the check, asked from this machine; enter it under {PAGE}")


def complaint_about(seen: UrlAnswer) -> str:
    """Return what is wrong with an answer, and what to do; "" for the bare bytes within a second."""
    if 300 <= seen.status < 400:
        return f"it redirects to {_without_query(seen.location)}, which WeCom does not follow; enter the address itself"
    if seen.status != 200:
        return f"HTTP {seen.status}: {_STATUS.get(seen.status, 'the answer has to come with status 200')}"
    if seen.body != seen.expected:
        return _complaint_about_body(seen)
    if seen.seconds > CONSOLE_SECONDS:
        return f"right, but after {seen.seconds:.1f} s; WeCom waits {CONSOLE_SECONDS:g} s. Look at proxy and ledger"
    return ""


def complaint_about_failure(error: HttpError) -> str:
    """Return why no answer came, and what to do."""
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return f"its certificate is not good; renew it, with the whole chain ({error})"
    if isinstance(error, NotSent):
        return f"it cannot be reached from this machine; look at DNS, firewall, proxy ({error})"
    if isinstance(error, ReadTimedOut | DeadlineExceeded):
        return f"no answer in time, WeCom waits {CONSOLE_SECONDS:g} s; look at the proxy and the web process ({error})"
    if isinstance(error, AnswerBroken):
        return f"the connection ends without an answer; is the ledger away? wechat-bridge health tells ({error})"
    return str(error)


def _complaint_about_body(seen: UrlAnswer) -> str:
    if seen.is_html:
        return "a web page answers instead of the bridge: the proxy sends /wecom/... to a web site (SPA fallback)"
    if seen.expected in seen.body:
        return "the answer has something around it (quotes, a byte order mark, a line end): a proxy changes the body"
    return "the answer is not ours: something else answers at this address"


def _without_query(location: str) -> str:
    return location.partition("?")[0] or "nowhere"
