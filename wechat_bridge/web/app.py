"""The web process: ``uvicorn wechat_bridge.web.app:app --no-server-header``. Importing it opens no connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from wechat_bridge import wiring
from wechat_bridge.errors import BridgeError
from wechat_bridge.observe import logging
from wechat_bridge.settings import settings
from wechat_bridge.web import events, health, media, metrics, wecom
from wechat_bridge.web.shared import SharedReadings

log = logging.logger(__name__)


@asynccontextmanager
async def lifespan(running: FastAPI) -> AsyncIterator[None]:
    """Be seen as alive while the server runs; raises BridgeError when it cannot start, having logged what to do."""
    try:
        given = settings()
        logging.configure(given.log_format, given.log_level)
        await asyncio.to_thread(wiring.start_process, "web")
        desk = wecom.CallbackDesk(wiring.bridge())
        await asyncio.to_thread(desk.callbacks.start)
    except BridgeError as error:
        log.critical("start_failed", error=str(error))
        raise
    running.state.readings = SharedReadings(wiring.bridge())
    running.state.callbacks = desk
    running.state.events = event_desk = events.EventDesk(wiring.gateway())
    event_desk.later.start()
    try:
        yield
    finally:
        await asyncio.to_thread(desk.callbacks.stop)
        await asyncio.to_thread(event_desk.later.stop)
        await asyncio.to_thread(wiring.stop_process)


app = FastAPI(title="wechat_bridge", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
app.include_router(health.router)
app.include_router(metrics.router)
app.include_router(media.router)
app.include_router(wecom.router)
app.include_router(events.router)
