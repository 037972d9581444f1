"""``/wecom/{share_id}``: what WeCom calls, once to check the address and then with every message and event."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from starlette.requests import ClientDisconnect

from wechat_bridge.channels.wecom.callback import Signed
from wechat_bridge.channels.wecom.envelope import MOST_BODY_BYTES
from wechat_bridge.errors import CallbackForged, CallbackMalformed, CallbackRefused, TransientError
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.seldom import Seldom
from wechat_bridge.flow.wecom.callback import Callbacks, Outcome, count
from wechat_bridge.observe.logging import logger
from wechat_bridge.web.body import BodyTooLarge, read_body
from wechat_bridge.web.room import NoRoom, Room
from wechat_bridge.web.unanswered import Unanswered

router = APIRouter()
log = logger(__name__)

BODY_SECONDS = 5.0
"""WeCom waits no longer for an answer, so nobody has to wait longer for the body."""

REFUSED_AFTER_SECONDS = 0.03
"""A wrong signature is not answered sooner: else one could tell by the clock whether a channel exists."""

ALWAYS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class CallbackDesk:
    """The callbacks of this process, and how many of them may be under way.

    Beyond that a callback is dropped: the platform repeats it. The URL check has a little room of its own, for an
    operator who sets a channel up while others are busy.
    """

    def __init__(self, bridge: Bridge) -> None:
        self.callbacks = Callbacks(bridge)
        self.posts = Room(most_requests=500, most_bytes=16 * MOST_BODY_BYTES, threads=32)
        self.checks = Room(most_requests=20, most_bytes=0, threads=4)
        self._shed = Seldom(10.0)

    def shed(self, share_id: str) -> Response:
        """Drop a callback that finds no room."""
        count(Outcome.DROPPED)
        if self._shed.may("full"):
            log.warning("callbacks_shed", share_id=share_id[:32], advice="more arrive than the ledger stores in time")
        return Unanswered()


@router.get("/wecom/{share_id}")
async def check_url(share_id: str, request: Request) -> Response:
    """Answer the check of a callback URL with the bare text: 403 for a wrong signature, 400 for what is no check."""
    desk: CallbackDesk = request.app.state.callbacks
    query, echostr = _signed(request), _only(request, "echostr")
    if query is None or not echostr:
        return _said(CallbackMalformed.status)
    try:
        with desk.checks.enter():
            return await _answered(desk.checks, partial(_checked, desk.callbacks, share_id, query, echostr))
    except NoRoom:
        return Unanswered()


@router.post("/wecom/{share_id}")
async def receive(share_id: str, request: Request) -> Response:
    """Take a callback: 200 and nothing else once it is kept, 403, 400 or 413 for what is none, else no answer."""
    desk: CallbackDesk = request.app.state.callbacks
    arrived, query = time.monotonic(), _signed(request)
    if query is None:
        return _said(CallbackMalformed.status)
    try:
        with desk.posts.enter() as place:
            body = await read_body(request, MOST_BODY_BYTES, BODY_SECONDS, place.take)
            return await _answered(desk.posts, partial(_taken, desk.callbacks, share_id, query, body, arrived))
    except BodyTooLarge:
        count(Outcome.MALFORMED)
        return _said(413)
    except NoRoom:
        return desk.shed(share_id)
    except (TimeoutError, ClientDisconnect):
        return Unanswered()


def _checked(callbacks: Callbacks, share_id: str, query: Signed, echostr: str) -> Response:
    return Response(callbacks.check_url(share_id, query, echostr), headers=ALWAYS, media_type="text/plain")


def _taken(callbacks: Callbacks, share_id: str, query: Signed, body: bytes, arrived: float) -> Response:
    callbacks.take(share_id, query, body, arrived)
    return Response(headers=ALWAYS)


async def _answered(room: Room, work: Callable[[], Response]) -> Response:
    began = time.monotonic()
    try:
        return await room.run(work)
    except CallbackForged as error:
        await asyncio.sleep(REFUSED_AFTER_SECONDS - (time.monotonic() - began))
        return _said(error.status)
    except CallbackRefused as error:
        return _said(error.status)
    except TransientError:
        return Unanswered()


def _signed(request: Request) -> Signed | None:
    """Return the query that every call has, or None where one of its parts is missing or there twice."""
    signature, timestamp, nonce = (_only(request, name) for name in ("msg_signature", "timestamp", "nonce"))
    return Signed(signature, timestamp, nonce) if signature and timestamp and nonce else None


def _only(request: Request, name: str) -> str:
    found = request.query_params.getlist(name)
    return found[0] if len(found) == 1 else ""


def _said(status: int) -> Response:
    """Say no more than the status: whoever gets it is not who they should be, or finds the reason in our log."""
    words = {403: "forbidden", 413: "too large"}
    return PlainTextResponse(words.get(status, "malformed"), status, ALWAYS)
