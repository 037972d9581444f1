"""OpenAI's own Python client against the simulated engine: what it understands is what the dialect says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from wechat_bridge.simulators.engine import EngineOptions, EngineSimulator

KEY = "sk-simulated"
ASKED: list[dict[str, str]] = [{"role": "user", "content": "你好，笑😀"}]


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineSimulator]:
    with EngineSimulator(EngineOptions(key=KEY)) as simulator:
        yield simulator


@pytest.fixture
def openai(peer_module: Callable[[str], ModuleType], engine: EngineSimulator) -> ModuleType:
    engine.clear()
    return peer_module("openai")


def client(openai: ModuleType, engine: EngineSimulator, key: str = KEY) -> Any:
    return openai.OpenAI(api_key=key, base_url=f"{engine.base_url}/v1", max_retries=0, timeout=10)


def test_it_reads_a_whole_answer(openai: ModuleType, engine: EngineSimulator) -> None:
    with client(openai, engine) as asking:
        answer = asking.chat.completions.create(model="m", messages=ASKED)
    assert answer.choices[0].message.content == "你好，笑😀"
    assert (answer.choices[0].finish_reason, answer.usage.total_tokens) == ("stop", 18)


def test_it_reads_a_stream(openai: ModuleType, engine: EngineSimulator) -> None:
    with client(openai, engine) as asking:
        chunks = list(asking.chat.completions.create(model="m", messages=ASKED, stream=True))
    said = [choice.delta.content or "" for chunk in chunks for choice in chunk.choices]
    assert "".join(said) == "你好，笑😀"
    assert chunks[-1].usage.completion_tokens == 7


def test_it_reads_a_refusal_and_a_call_of_a_tool(openai: ModuleType, engine: EngineSimulator) -> None:
    engine.script(null=True, refusal="no")
    engine.script(tool_calls=True)
    with client(openai, engine) as asking:
        refused = asking.chat.completions.create(model="m", messages=ASKED).choices[0]
        called = asking.chat.completions.create(model="m", messages=ASKED).choices[0]
    assert (refused.message.content, refused.message.refusal) == (None, "no")
    assert (called.finish_reason, called.message.tool_calls[0].function.name) == ("tool_calls", "weather")


def test_it_knows_each_failure_by_its_name(openai: ModuleType, engine: EngineSimulator) -> None:
    engine.script(status=429, headers={"Retry-After": "3"}, message="slow down")
    engine.script(status=503)
    engine.script(status=400, message="bad")
    with client(openai, engine) as asking:
        with pytest.raises(openai.RateLimitError, match="slow down") as caught:
            asking.chat.completions.create(model="m", messages=ASKED)
        assert caught.value.response.headers["retry-after"] == "3"
        with pytest.raises(openai.InternalServerError):
            asking.chat.completions.create(model="m", messages=ASKED)
        with pytest.raises(openai.BadRequestError, match="bad"):
            asking.chat.completions.create(model="m", messages=ASKED)
    with client(openai, engine, "sk-wrong") as other, pytest.raises(openai.AuthenticationError):
        other.chat.completions.create(model="m", messages=ASKED)


def test_it_sees_an_error_inside_a_stream(openai: ModuleType, engine: EngineSimulator) -> None:
    engine.script(text="half", error={"message": "broke", "code": 500})
    with client(openai, engine) as asking, pytest.raises(openai.APIError, match="broke"):
        list(asking.chat.completions.create(model="m", messages=ASKED, stream=True))
