"""OpenAI's chat completions."""

from __future__ import annotations

import time
from collections.abc import Iterator

from wechat_bridge.simulators.engine.dialect import Asked, Json, Refused, event, last_text, links_in
from wechat_bridge.simulators.engine.script import ScriptedReply
from wechat_bridge.simulators.engine.world import RecordedCall, World

MODEL = "simulated-1"
PROMPT_TOKENS, COMPLETION_TOKENS = 11, 7
TOOL_CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}


class OpenAiDialect:
    """`POST /v1/chat/completions`."""

    name = "openai"
    path = "/v1/chat/completions"
    has_key = True

    def read(self, world: World, call: RecordedCall) -> Asked | Refused:
        """Return the last message's text."""
        if not isinstance(call.body.get("messages"), list) or not call.body.get("model"):
            return self.failure(400, None, "model and messages are required")
        messages = call.body["messages"]
        return Asked(last_text(messages), stream=call.body.get("stream") is True, links=links_in(messages))

    def whole(self, asked: Asked, reply: ScriptedReply) -> Json:
        """Return a chat.completion."""
        message: Json = {"role": "assistant", "content": "".join(reply.said(asked.text))}
        if reply.null or reply.tool_calls:
            message["content"] = None
        message |= self._beside(reply)
        choice = {"index": 0, "message": message, "finish_reason": self._reason(reply)}
        error = {"error": reply.error} if reply.error is not None else {}
        return {**self._head("chat.completion"), "choices": [choice], "usage": self._usage(), **error, **reply.fields}

    def stream(self, asked: Asked, reply: ScriptedReply) -> Iterator[bytes]:
        """Yield chat.completion.chunk events, then the usage, then the end mark."""
        yield self._chunk({"role": "assistant", "content": ""})
        if beside := self._beside(reply):
            yield self._chunk(beside)
        for piece in reply.said(asked.text):
            yield self._chunk({"content": piece})
        if reply.error is not None:
            yield event({"error": reply.error})
            return
        if reply.unfinished:
            return
        yield self._chunk({}, self._reason(reply))
        yield event({**self._head("chat.completion.chunk"), "choices": [], "usage": self._usage()})
        yield event("[DONE]")

    def failure(self, status: int, code: int | None, message: str) -> Refused:
        """Return OpenAI's error object."""
        return Refused(status, {"error": {"message": message, "type": "simulated", "param": None, "code": code}})

    def _chunk(self, delta: Json, finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return event({**self._head("chat.completion.chunk"), "choices": [choice]})

    @staticmethod
    def _beside(reply: ScriptedReply) -> Json:
        beside: Json = {}
        if reply.reasoning:
            beside["reasoning_content"] = reply.reasoning
        if reply.refusal:
            beside["refusal"] = reply.refusal
        if reply.tool_calls:
            beside["tool_calls"] = [{"index": 0, **TOOL_CALL}]
        return beside

    @staticmethod
    def _reason(reply: ScriptedReply) -> str:
        return "tool_calls" if reply.tool_calls else reply.finish_reason

    @staticmethod
    def _usage() -> Json:
        return {
            "prompt_tokens": PROMPT_TOKENS,
            "completion_tokens": COMPLETION_TOKENS,
            "total_tokens": PROMPT_TOKENS + COMPLETION_TOKENS,
        }

    @staticmethod
    def _head(kind: str) -> Json:
        return {"id": "chatcmpl-simulated", "object": kind, "created": int(time.time()), "model": MODEL}
