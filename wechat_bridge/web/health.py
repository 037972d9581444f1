"""``/livez``: restart me or not. ``/readyz``: do messages flow, and what to do if not."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from wechat_bridge import wiring
from wechat_bridge.errors import OwnerStale
from wechat_bridge.flow.health import judge
from wechat_bridge.web.shared import SharedReadings

router = APIRouter()

OK, UNAVAILABLE = 200, 503
FRESH = {"Cache-Control": "no-store"}


@router.get("/livez")
@router.head("/livez")
async def livez() -> JSONResponse:
    """Say whether this process answers and has lately reached the ledger. Asks nobody, so it cannot hang."""
    try:
        wiring.bridge().alive.check()
    except OwnerStale as error:
        return JSONResponse({"ok": False, "detail": str(error)}, UNAVAILABLE, FRESH)
    return JSONResponse({"ok": True}, OK, FRESH)


@router.get("/readyz")
@router.head("/readyz")
async def readyz(request: Request) -> JSONResponse:
    """Give the health report; its details name channels, so keep this address behind the proxy."""
    shared: SharedReadings = request.app.state.readings
    report = judge(await shared.get(), shared.bridge.settings)
    body = {"ok": report.ok, "checks": [check.model_dump() for check in report.checks]}
    return JSONResponse(body, OK if report.ok else UNAVAILABLE, FRESH)
