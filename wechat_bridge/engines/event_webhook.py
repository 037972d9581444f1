"""A URL of one's own that gets events: 2xx says that it has them, whatever else it says.

It gets ``POST {url}``: the JSON of ``gateway/outgoing_event`` with ``Idempotency-Key`` (the id of the event, the same
on every attempt), ``X-Event-Id`` and ``traceparent``, signed like the requests of the webhook engine where a secret is
set. Redirects are not followed. What its status says:

========================  ==========================  ==========================================
status                    the event                   may this attempt have had an effect?
========================  ==========================  ==========================================
2xx                       is handed over              yes, that is the point
408, 425, 429, 503        comes again, no sooner than  no: the request was not worked on
                          ``Retry-After``
other 5xx, 1xx            comes again, likewise       yes: it may have failed half way, or behind a proxy
3xx, other 4xx            is given up                 no: the address refuses it
no answer                 comes again                 no where there was no connection, else yes
========================  ==========================  ==========================================
"""

from __future__ import annotations

from collections.abc import Mapping

from wechat_bridge.engines.deadline import Deadline
from wechat_bridge.engines.failures import retry_after
from wechat_bridge.engines.http import EngineHttp, Reply, header_value
from wechat_bridge.engines.webhook import server_of, signed_headers
from wechat_bridge.errors import DispatchRefused, DispatchUnavailable, EngineUnavailable

NOT_WORKED_ON = frozenset({408, 425, 429, 503})
"""Statuses by which a server says that it did nothing with a request, and that it may be sent again."""


class EventWebhook:
    """Posts events. Its errors carry nothing of the answer, which may repeat the event, and no secret."""

    def __init__(self, http: EngineHttp) -> None:
        self._http = http

    def post(
        self, url: str, secret: str, event_id: str, body: bytes, headers: Mapping[str, str], timeout_seconds: float
    ) -> None:
        """Return when the URL has taken the event; ``timeout_seconds`` is for the whole exchange.

        Raises DispatchUnavailable and DispatchRefused.
        """
        server = server_of("event target", url, secret, self._http)
        deadline = Deadline(timeout_seconds)
        try:
            with server.post("", body, {**headers, **_identity(event_id, secret, body)}, deadline) as reply:
                _check(reply, str(server.failures.unavailable(f"answered with status {reply.status}")))
                reply.finish()
        except EngineUnavailable as error:
            raise DispatchUnavailable(_said(str(error)), may_have_effect=deadline.has_begun) from None


def _identity(event_id: str, secret: str, body: bytes) -> dict[str, str]:
    if secret:
        return signed_headers(event_id, secret, body)
    return {"Idempotency-Key": header_value(event_id)}


def _check(reply: Reply, what: str) -> None:
    status, said = reply.status, _said(what)
    if 200 <= status < 300:
        return
    if status in NOT_WORKED_ON or status >= 500 or status < 200:
        wait = retry_after(reply.headers.get("Retry-After"))
        raise DispatchUnavailable(said, wait, may_have_effect=status not in NOT_WORKED_ON)
    if status < 400:
        raise DispatchRefused(f"{said}; redirects are not followed: set the address it leads to")
    raise DispatchRefused(f"{said}; look at what it wrote about this event, then replay the dead letter")


def _said(text: str) -> str:
    return text.removeprefix("engine ")
