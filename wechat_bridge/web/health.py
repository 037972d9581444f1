"""``/livez``: restart me or not. ``/readyz``: do messages flow, and what to do if not."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from wechat_bridge import wiring
from wechat_bridge.flow.health.report import judge
from wechat_bridge.web.shared import SharedReadings

router = APIRouter()

OK, UNAVAILABLE = 200, 503
FRESH = {"Cache-Control": "no-store"}


@router.get("/livez")
@router.head("/livez")
async def livez() -> JSONResponse:
    """Say whether this process answers and its heart beats. Asks nobody, so it cannot hang.

    A database that is away is no reason to restart this process: /readyz tells that.
    """
    if not wiring.wired().heartbeat.is_running:
        return JSONResponse(
            {"ok": False, "detail": "the heartbeat has ended; restart this process"}, UNAVAILABLE, FRESH
        )
    return JSONResponse({"ok": True}, OK, FRESH)


@router.get("/readyz")
@router.head("/readyz")
async def readyz(request: Request) -> JSONResponse:
    """Give the health report; its details name channels, so keep this address behind the proxy."""
    shared: SharedReadings = request.app.state.readings
    report = judge(await shared.get(), shared.bridge.settings)
    body = {"ok": report.ok, "checks": [check.model_dump() for check in report.checks]}
    return JSONResponse(body, OK if report.ok else UNAVAILABLE, FRESH)
