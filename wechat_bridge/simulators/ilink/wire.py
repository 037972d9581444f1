"""Writing answers to connections: whole, scripted, late, byte by byte, broken off, or never."""

from __future__ import annotations

import asyncio

from aiohttp import web

from wechat_bridge.simulators.ilink.call import Answer, Call
from wechat_bridge.simulators.ilink.script import ScriptedAnswer

# Longer than any client waits; a hanging request ends with its connection.
HANG_SECONDS = 86_400.0
END_OF_HEAD = b"\r\n\r\n"


async def write_answer(call: Call, answer: Answer) -> bool:
    """Write a whole answer; False when the connection was gone."""
    response = call.response = web.Response(body=answer.body, status=answer.status, headers=answer.headers)
    # First, because the client may send its next poll the moment the last byte is out.
    call.end_poll()
    try:
        await response.prepare(call.request)
        await response.write_eof()
    except ConnectionError:
        return False
    return True


async def write_scripted(call: Call, answer: Answer, entry: ScriptedAnswer) -> bool:
    """Write an answer in the way its script says; False when the connection was gone or is cut on purpose."""
    if entry.drip_seconds or entry.cut_after_bytes is not None or entry.raw_base64 is not None:
        return await write_by_hand(call, answer, entry)
    return await write_answer(call, answer)


async def write_by_hand(call: Call, answer: Answer, entry: ScriptedAnswer) -> bool:
    """Write past the HTTP library, so that an answer may be slow or incomplete. Closes the connection."""
    transport = call.request.transport
    if transport is None or transport.is_closing():
        return False
    whole = answer.body if entry.raw_base64 is not None else head_of(answer) + answer.body
    head_length = whole.find(END_OF_HEAD) + len(END_OF_HEAD) if END_OF_HEAD in whole else 0
    end = len(whole) if entry.cut_after_bytes is None else min(len(whole), head_length + entry.cut_after_bytes)
    step = 1 if entry.drip_seconds else max(1, end - head_length)
    transport.write(whole[:head_length])
    for start in range(head_length, end, step):
        await asyncio.sleep(entry.drip_seconds)
        if transport.is_closing():
            return False
        if start + step >= end:
            call.end_poll()
        transport.write(whole[start : min(start + step, end)])
    call.end_poll()
    transport.close()
    return end == len(whole)


def head_of(answer: Answer) -> bytes:
    """Status line and headers of an answer that is written by hand."""
    headers = {**answer.headers, "Content-Length": str(len(answer.body)), "Connection": "close"}
    lines = [f"HTTP/1.1 {answer.status} Simulated", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode("latin-1") + END_OF_HEAD


def cut(call: Call) -> None:
    """Drop the connection without a word."""
    call.end_poll()
    if call.request.transport is not None:
        call.request.transport.abort()


async def pause(call: Call, seconds: float) -> None:
    """Let time pass, less when the client leaves."""
    await call.wakeup.wait_until(lambda: call.client_closed, seconds)


async def hang(call: Call) -> None:
    """Leave the request without an answer for as long as its client stays."""
    await pause(call, HANG_SECONDS)
