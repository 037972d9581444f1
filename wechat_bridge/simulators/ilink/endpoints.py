"""Every endpoint of the protocol: by which path it is found, whether it needs a bot token, and who answers it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiohttp import web

from wechat_bridge.simulators.ilink import conversation, login, media, sending, updates
from wechat_bridge.simulators.ilink.call import Answer, Call, error_answer
from wechat_bridge.simulators.ilink.conformance import APP_HEADERS, api_departures, send_departures
from wechat_bridge.simulators.json_types import Json

if TYPE_CHECKING:
    from wechat_bridge.simulators.ilink.world import World

API_PREFIX = "/ilink/bot/"
BEARER = "Bearer "


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One endpoint; `name` is also what scripts and statistics call it."""

    name: str
    methods: tuple[str, ...]
    needs_token: bool
    answer: Callable[[World, Call], Awaitable[Answer | None]]


API = {
    "get_bot_qrcode": Endpoint("get_bot_qrcode", ("GET", "POST"), False, login.get_bot_qrcode),
    "get_qrcode_status": Endpoint("get_qrcode_status", ("GET",), False, login.get_qrcode_status),
    "getupdates": Endpoint("getupdates", ("POST",), True, updates.get_updates),
    "sendmessage": Endpoint("sendmessage", ("POST",), True, sending.send_message),
    "getuploadurl": Endpoint("getuploadurl", ("POST",), True, media.get_upload_url),
    "getconfig": Endpoint("getconfig", ("POST",), True, conversation.get_config),
    "sendtyping": Endpoint("sendtyping", ("POST",), True, conversation.send_typing),
    "msg/notifystart": Endpoint("notifystart", ("POST",), True, conversation.notify),
    "msg/notifystop": Endpoint("notifystop", ("POST",), True, conversation.notify),
}
CDN = {
    "upload": Endpoint("upload", ("POST",), False, media.upload),
    "download": Endpoint("download", ("GET",), False, media.download),
}
ENDPOINT_NAMES = sorted(endpoint.name for endpoint in (*API.values(), *CDN.values()))


def find_endpoint(path: str) -> Endpoint | None:
    """The endpoint of a path; API and CDN may stand behind any prefix, as base URLs may carry one."""
    _, found, name = path.rpartition(API_PREFIX)
    return API.get(name) if found else CDN.get(path.rpartition("/")[2])


async def read_call(world: World, endpoint: Endpoint, request: web.BaseRequest) -> tuple[Call, Answer | None]:
    """Read a request and check its method, body and token; the answer is the refusal, if there is one."""
    # Not request.read(), which stops at one megabyte.
    data = await request.content.read()
    call = Call(endpoint.name, request, data, {})
    world.requests[endpoint.name] += 1
    if request.method not in endpoint.methods:
        return call, Answer(b"method not allowed", 405, {"Allow": ", ".join(endpoint.methods)})
    if endpoint in CDN.values():
        return call, None
    body = parse_body(data)
    if body is None:
        return call, error_answer(sending.REFUSED, sending.INVALID_ARGUMENTS)
    call.body = body
    count_departures(world, endpoint, call)
    return call, authenticate(world, call) if endpoint.needs_token else None


def parse_body(data: bytes) -> Json | None:
    """The JSON object of a body; an empty body is an empty object, anything else is None."""
    try:
        body = json.loads(data) if data else {}
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def count_departures(world: World, endpoint: Endpoint, call: Call) -> None:
    """Count where the request departs from the official client's."""
    request = call.request
    world.departures.update(api_departures(request.method, request.headers, call.body, endpoint.needs_token))
    if endpoint.name == "sendmessage":
        world.departures.update(send_departures(call.body.get("msg")))


def authenticate(world: World, call: Call) -> Answer | None:
    """Find the bot of the token; anything but a good token is answered -14 under HTTP 200, at once."""
    headers = call.request.headers
    token = headers.get("Authorization", "").removeprefix(BEARER)
    call.bot, is_good = world.authenticate(token)
    options = call.bot.options if call.bot else world.options
    if options.require_app_headers and not all(headers.get(name) for name in APP_HEADERS):
        is_good = False
    return None if is_good else updates.stale_answer(options.stale_token_shape)
