"""Dify's chat messages: the server names the conversations, and each belongs to one user."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

from aiohttp import BodyPartReader, web

from wechat_bridge.simulators.engine.dialect import Asked, Json, Refused, event
from wechat_bridge.simulators.engine.script import ScriptedReply
from wechat_bridge.simulators.engine.world import RecordedCall, World

USAGE = {"prompt_tokens": 13, "completion_tokens": 5, "total_tokens": 18}


class DifyDialect:
    """`POST /v1/chat-messages`."""

    name = "dify"
    path = "/v1/chat-messages"
    has_key = True

    def read(self, world: World, call: RecordedCall) -> Asked | Refused:
        """Return the query; its conversation must be known, its files uploaded."""
        body = call.body
        query, user, conversation = body.get("query"), body.get("user"), body.get("conversation_id") or ""
        if not isinstance(query, str) or not isinstance(user, str) or not query or not user:
            return self.failure(400, None, "query and user are required")
        if conversation and world.conversations.get(conversation) != user:
            return Refused(404, {"code": "not_found", "message": "Conversation Not Exists.", "status": 404})
        files = body.get("files") or []
        links = tuple(str(file.get("url")) for file in files if file.get("transfer_method") == "remote_url")
        uploads = [file for file in files if file.get("transfer_method") != "remote_url"]
        if any(file.get("upload_file_id") not in world.uploads for file in uploads):
            return self.failure(400, None, "invalid upload file")
        if not conversation:
            conversation = str(uuid.uuid4())
            world.conversations[conversation] = user
        return Asked(query, body.get("response_mode") == "streaming", conversation=conversation, links=links)

    def whole(self, asked: Asked, reply: ScriptedReply) -> Json:
        """Return an answer."""
        said = None if reply.null else "".join(reply.said(asked.text))
        error = {"error": reply.error} if reply.error is not None else {}
        head = self._head("message", asked)
        return {**head, "mode": "chat", "answer": said, "metadata": {"usage": USAGE}, **error, **reply.fields}

    def stream(self, asked: Asked, reply: ScriptedReply) -> Iterator[bytes]:
        """Yield pings, thoughts and messages, then the end."""
        yield b"event: ping\n\n"
        if reply.reasoning:
            yield event({**self._head("agent_thought", asked), "thought": reply.reasoning})
        for piece in reply.said(asked.text):
            yield event({**self._head("message", asked), "answer": piece})
        if reply.error is not None:
            yield event({**self._head("error", asked), "status": reply.error.get("code"), **reply.error})
            return
        if not reply.unfinished:
            yield event({**self._head("message_end", asked), "metadata": {"usage": USAGE}})

    def failure(self, status: int, code: int | None, message: str) -> Refused:
        """Return Dify's error object."""
        return Refused(status, {"code": "invalid_param", "message": message, "status": status})

    @staticmethod
    def _head(kind: str, asked: Asked) -> Json:
        return {"event": kind, "task_id": "t", "message_id": "m", "conversation_id": asked.conversation}


async def upload(world: World, request: web.Request) -> web.Response:
    """`POST /v1/files/upload`: keep a file; its id stands for it in the next question."""
    data, name, user = b"", "", ""
    form = await request.multipart()
    async for part in form:
        if not isinstance(part, BodyPartReader):
            continue
        if part.name == "file":
            data, name = bytes(await part.read()), part.filename or ""
        elif part.name == "user":
            user = await part.text()
    headers = {key.lower(): value for key, value in request.headers.items()}
    world.record(RecordedCall("dify-upload", request.path, headers, {"user": user, "name": name}, data))
    if not user or not data:
        return web.json_response({"code": "no_file_uploaded", "message": "no file", "status": 400}, status=400)
    upload_id = str(uuid.uuid4())
    world.uploads[upload_id] = data
    return web.json_response({"id": upload_id, "name": name, "size": len(data)}, status=201)
