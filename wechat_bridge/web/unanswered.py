"""No answer at all: for what can be kept nowhere, so that whoever asked asks again."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class Unanswered(Response):
    """Ends the connection without a byte.

    ASGI has no word for that, and with any status WeCom may take the matter as settled. uvicorn's ``receive`` belongs
    to an object that knows the transport: that is closed. Under another server nothing is said until the client gives
    up by itself, which comes to the same for WeCom, 5 s later.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Close the connection and wait until it is closed: a server answers 500 for who ends before."""
        transport: Any = getattr(getattr(receive, "__self__", None), "transport", None)
        if transport is not None:
            transport.abort()
        while (await receive())["type"] != "http.disconnect":
            continue
