"""FastGPT's chat completions: OpenAI's shape, and every error under HTTP 500 with a code in the body."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wechat_bridge.simulators.engine.dialect import Asked, Json, Refused, event, last_text, links_in
from wechat_bridge.simulators.engine.script import ScriptedReply
from wechat_bridge.simulators.engine.world import RecordedCall, World

LONGEST_CHAT_ID = 250
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 1}


class FastGptDialect:
    """`POST /api/v1/chat/completions`."""

    name = "fastgpt"
    path = "/api/v1/chat/completions"
    has_key = True

    def read(self, world: World, call: RecordedCall) -> Asked | Refused:
        """Return the last message's text; a conversation answers one question at a time, and each round once."""
        body = call.body
        chat, round_id = str(body.get("chatId", "")), str(body.get("responseChatItemId", ""))
        if len(chat) >= LONGEST_CHAT_ID:
            return self.failure(500, 500, "chatId is too long")
        if chat and chat in world.busy:
            return self.failure(500, 409, "the chat is generating")
        if round_id and (chat, round_id) in world.rounds:
            return self.failure(500, 500, f"Chat dataId already exists: {round_id}")
        if chat:
            world.busy.add(chat)
            world.rounds.add((chat, round_id))
        stream, detail, messages = body.get("stream") is True, body.get("detail") is True, body.get("messages")
        return Asked(last_text(messages), stream, conversation=chat, detail=detail, links=links_in(messages))

    def whole(self, asked: Asked, reply: ScriptedReply) -> Json:
        """Return an answer; with detail and thoughts its content is a list."""
        said: Any = None if reply.null else "".join(reply.said(asked.text))
        if asked.detail and reply.reasoning:
            said = [
                {"type": "reasoning", "reasoning": {"content": reply.reasoning}},
                {"type": "text", "text": {"content": said or ""}},
            ]
        message = {"role": "assistant", "content": said}
        error = {"error": reply.error} if reply.error is not None else {}
        choices = [{"index": 0, "message": message, "finish_reason": reply.finish_reason}]
        return {"id": asked.conversation, "model": "", "usage": USAGE, "choices": choices, **error, **reply.fields}

    def stream(self, asked: Asked, reply: ScriptedReply) -> Iterator[bytes]:
        """Yield deltas, named and among other events with detail, then the end mark."""
        name = "answer" if asked.detail else ""
        if asked.detail:
            yield event({"status": "running", "name": "AI"}, "flowNodeStatus")
        if reply.reasoning:
            yield event(_chunk({"role": "assistant", "reasoning_content": reply.reasoning}), name)
        for piece in reply.said(asked.text):
            yield event(_chunk({"role": "assistant", "content": piece}), name)
        if reply.error is not None:
            yield event(reply.error, "error")
            return
        if reply.unfinished:
            return
        yield event(_chunk({"role": "assistant", "content": None}, reply.finish_reason), name)
        if asked.detail:
            yield event([{"moduleName": "AI"}], "flowResponses")
        yield event("[DONE]", name)

    def failure(self, status: int, code: int | None, message: str) -> Refused:
        """Return its own error object; the code is the status where none is given."""
        return Refused(status, {"code": code or status, "statusText": "", "message": message, "data": None})


def _chunk(delta: Json, finish_reason: str | None = None) -> Json:
    return {"id": "", "object": "", "created": 0, "model": "", "choices": [
        {"delta": delta, "index": 0, "finish_reason": finish_reason}
    ]}  # fmt: skip
