"""The paths of qyapi: which there are, how each is called, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom import agent, kf, media, messages, tokens
from wechat_bridge.simulators.wecom.call import Answer, Call
from wechat_bridge.simulators.wecom.codes import ApiError
from wechat_bridge.simulators.wecom.limits import MINUTE_SECONDS

PREFIX = "/cgi-bin/"


@dataclass(frozen=True)
class Endpoint:
    """One path: its method, whether it wants an access token, and what answers it."""

    method: str
    answer: Callable[[Call], Json | Answer]
    needs_token: bool = True


ENDPOINTS = {
    "gettoken": Endpoint("GET", tokens.gettoken, needs_token=False),
    "message/send": Endpoint("POST", messages.send),
    "message/recall": Endpoint("POST", messages.recall),
    "message/update_template_card": Endpoint("POST", messages.update_template_card),
    "media/upload": Endpoint("POST", media.upload),
    "media/get": Endpoint("GET", media.get),
    "agent/get": Endpoint("GET", agent.get),
    "getcallbackip": Endpoint("GET", agent.addresses),
    "kf/sync_msg": Endpoint("POST", kf.sync_msg),
    "kf/send_msg": Endpoint("POST", kf.send_msg),
    "kf/send_msg_on_event": Endpoint("POST", kf.send_msg_on_event),
    "kf/add_contact_way": Endpoint("POST", kf.contact_way),
    "kf/service_state/get": Endpoint("POST", kf.get_state),
    "kf/service_state/trans": Endpoint("POST", kf.change_state),
    "kf/account/list": Endpoint("POST", kf.list_accounts),
}


def authenticate(call: Call) -> None:
    """Find the app of the access token.

    Raises:
        ApiError: the token is not good; the app is disabled (50003) or may not be called from this address (60020).
    """
    call.known_app = app = call.world.tokens.app_of(call.query.get("access_token", ""), call.world.now())
    if not app.enabled:
        raise ApiError(50003)
    if app.trusted_ips is not None and call.source_ip not in app.trusted_ips:
        raise ApiError(60020)


def answer(endpoint: Endpoint, call: Call) -> Json | Answer:
    """What the server says to a call.

    Raises:
        ApiError: the call is refused.
    """
    if call.method != endpoint.method:
        raise ApiError(43001 if endpoint.method == "GET" else 43002)
    if endpoint.needs_token:
        authenticate(call)
        limit, key = call.world.options.calls_per_minute, ("calls", call.app.corp_id, call.path)
        if call.world.limits.exceeded(key, limit, MINUTE_SECONDS, call.world.now()):
            raise ApiError(45009)
        most = call.world.options.concurrent_calls
        if most is not None and call.world.open_calls[call.app.corp_id, call.path] > most:
            raise ApiError(45033)
    return endpoint.answer(call)
