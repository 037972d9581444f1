"""The simulated engine as its clients and whoever scripts it see it; no engine of the bridge is involved."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from wechat_bridge.simulators.engine import EngineOptions, EngineSimulator

COMMAND = [sys.executable, "-m", "wechat_bridge.simulators", "engine"]
OPENAI, FASTGPT, DIFY = "/v1/chat/completions", "/api/v1/chat/completions", "/v1/chat-messages"


@pytest.fixture
def engine(simulated_engine: EngineSimulator) -> EngineSimulator:
    """The simulated engine."""
    return simulated_engine


def post(engine: EngineSimulator | str, path: str, body: Any, **headers: str) -> requests.Response:
    base_url = engine if isinstance(engine, str) else engine.base_url
    return requests.post(base_url + path, json=body, headers=headers, timeout=10)


def asking(text: str = "hi", **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **fields}


def test_without_a_script_the_question_is_the_answer_in_every_dialect(engine: EngineSimulator) -> None:
    for path in (OPENAI, FASTGPT):
        assert post(engine, path, asking("你好")).json()["choices"][0]["message"]["content"] == "你好"
    assert post(engine, DIFY, {"query": "你好", "user": "u"}).json()["answer"] == "你好"
    assert post(engine, "/webhook", {"text": "你好"}).json() == {"text": "你好"}
    assert [call.dialect for call in engine.calls] == ["openai", "fastgpt", "dify", "webhook"]


def test_a_script_is_used_up_reply_by_reply_and_then_forgotten(engine: EngineSimulator) -> None:
    engine.script(text="a", times=2)
    engine.script(status=503)
    answers = [post(engine, "/webhook", {"text": "own"}) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 503, 200]
    assert [answers[at].json()["text"] for at in (0, 1, 3)] == ["a", "a", "own"]


def test_a_request_without_what_the_dialect_needs_is_refused_in_its_words(engine: EngineSimulator) -> None:
    assert post(engine, OPENAI, {"model": "m"}).json()["error"]["message"] == "model and messages are required"
    assert post(engine, DIFY, {"query": "q"}).json()["code"] == "invalid_param"
    assert post(engine, "/webhook", {}).status_code == 400
    too_long = post(engine, FASTGPT, asking(chatId="x" * 250))
    assert (too_long.status_code, too_long.json()["code"]) == (500, 500)


def test_fastgpt_answers_one_question_of_a_chat_at_a_time_and_each_round_once(engine: EngineSimulator) -> None:
    engine.script(text="slow", delay_seconds=0.5)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(post, engine, FASTGPT, asking(chatId="c", responseChatItemId="1"))
        deadline = time.monotonic() + 5
        while not engine.calls and time.monotonic() < deadline:
            time.sleep(0.01)
        busy = post(engine, FASTGPT, asking(chatId="c", responseChatItemId="2"))
        other = post(engine, FASTGPT, asking(chatId="d", responseChatItemId="2"))
        assert slow.result().status_code == 200
    assert (busy.status_code, busy.json()["code"], other.status_code) == (500, 409, 200)
    again = post(engine, FASTGPT, asking(chatId="c", responseChatItemId="1"))
    assert "Chat dataId already exists" in again.json()["message"]


def test_a_conversation_of_dify_belongs_to_one_user(engine: EngineSimulator) -> None:
    conversation = post(engine, DIFY, {"query": "q", "user": "u"}).json()["conversation_id"]
    known = {"query": "q", "conversation_id": conversation}
    assert post(engine, DIFY, {**known, "user": "u"}).json()["conversation_id"] == conversation
    assert post(engine, DIFY, {**known, "user": "other"}).status_code == 404


def test_dify_takes_only_files_that_were_uploaded(engine: EngineSimulator) -> None:
    url = f"{engine.base_url}/v1/files/upload"
    sent = requests.post(url, data={"user": "u"}, files={"file": ("a.png", b"png")}, timeout=10)
    files = [{"type": "image", "transfer_method": "local_file", "upload_file_id": sent.json()["id"]}]
    assert post(engine, DIFY, {"query": "q", "user": "u", "files": files}).status_code == 200
    files[0]["upload_file_id"] = "unknown"
    assert post(engine, DIFY, {"query": "q", "user": "u", "files": files}).status_code == 400
    assert requests.post(url, files={"file": ("a.png", b"png")}, timeout=10).status_code == 400


def test_an_answer_that_is_cut_off_breaks_the_connection(engine: EngineSimulator) -> None:
    engine.script(text="long" * 100, cut_after_bytes=20)
    with pytest.raises(requests.exceptions.RequestException):
        post(engine, "/webhook", {"text": "hi"})


def test_a_stream_comes_piece_by_piece(engine: EngineSimulator) -> None:
    engine.script(pieces=["a", "b", "c"], piece_seconds=0.1)
    at: list[float] = []
    with requests.post(engine.base_url + OPENAI, json=asking(stream=True), stream=True, timeout=10) as answer:
        for line in answer.iter_lines(chunk_size=1):
            at += [time.monotonic()] if line else []
    assert at[-1] - at[0] > 0.4


def test_only_the_right_key_opens(engine: EngineSimulator) -> None:
    with EngineSimulator(EngineOptions(key="right")) as locked:
        assert post(locked, OPENAI, asking(), Authorization="Bearer wrong").status_code == 401
        assert post(locked, OPENAI, asking(), Authorization="Bearer right").status_code == 200
        assert post(locked, "/webhook", {"text": "signed instead"}).status_code == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_can_be_scripted_and_ends_cleanly_at_a_signal(number: signal.Signals) -> None:
    process = subprocess.Popen(
        [*COMMAND, "--port=0", "--delay-seconds=0.01"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ},
    )  # fmt: skip
    assert process.stdout is not None
    base_url = process.stdout.readline().split()[-1]
    assert post(base_url, "/control/script", {"text": "scripted"}).json() == {"ok": True}
    assert post(base_url, "/control/script", {"txt": "wrong"}).status_code == 400
    assert post(base_url, OPENAI, asking()).json()["choices"][0]["message"]["content"] == "scripted"
    calls = requests.get(f"{base_url}/control/calls", timeout=10).json()
    assert [(call["dialect"], call["body"]["model"]) for call in calls] == [("openai", "m")]
    assert post(base_url, "/control/clear", {}).json() == {"ok": True}
    assert json.loads(requests.get(f"{base_url}/control/calls", timeout=10).text) == []
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_start_that_cannot_be_ends_the_command_with_a_message(engine: EngineSimulator) -> None:
    taken = f"--port={engine.base_url.rpartition(':')[2]}"
    for switch, says in (("--delay-seconds=soon", "delay_seconds"), (taken, "address already in use")):
        ended = subprocess.run([*COMMAND, switch], capture_output=True, text=True, timeout=20, check=False)
        assert ended.returncode == 2
        assert says in ended.stderr
