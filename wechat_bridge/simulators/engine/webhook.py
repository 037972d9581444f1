"""A webhook of one's own: the turn as JSON in, the answer as JSON out."""

from __future__ import annotations

from collections.abc import Iterator

from wechat_bridge.simulators.engine.dialect import Asked, Json, Refused
from wechat_bridge.simulators.engine.script import ScriptedReply
from wechat_bridge.simulators.engine.world import RecordedCall, World


class WebhookDialect:
    """`POST /webhook`."""

    name = "webhook"
    path = "/webhook"
    has_key = False

    def read(self, world: World, call: RecordedCall) -> Asked | Refused:
        """Return the turn's text."""
        text = call.body.get("text")
        return Asked(text) if isinstance(text, str) else self.failure(400, None, "text is required")

    def whole(self, asked: Asked, reply: ScriptedReply) -> Json:
        """Return a text."""
        error = {"error": reply.error} if reply.error is not None else {}
        text = None if reply.null else "".join(reply.said(asked.text))
        return {"text": text, **error, **reply.fields}

    def stream(self, asked: Asked, reply: ScriptedReply) -> Iterator[bytes]:
        """Yield nothing: webhooks do not stream."""
        yield from ()

    def failure(self, status: int, code: int | None, message: str) -> Refused:
        """Return some error."""
        return Refused(status, {"error": message})
