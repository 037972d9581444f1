"""What every engine keeps to, whichever dialect it speaks and however it reads the answer."""

from __future__ import annotations

import base64
import socket
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests
from celery import Celery

from tests.engines.asking import KEY, KINDS_TO_ASK, SHOP, Kind, Maker, question
from tests.engines.contract import DOES_NOT_APPLY, ECHO, applies
from tests.support.own_worker import shop_worker
from wechat_bridge.engines.base import Engine
from wechat_bridge.engines.http import EngineHttp
from wechat_bridge.errors import BridgeError, EngineRefused, EngineUnavailable
from wechat_bridge.simulators.engine import EngineSimulator
from wechat_bridge.tasks.engine_calls import CeleryCalls

MANY = "好" * 4_000_000


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Ask every engine to which the test applies; tasks need a worker in a process of its own."""
    if "kind" in metafunc.fixturenames:
        kinds = [kind for kind in KINDS_TO_ASK if applies(metafunc.function.__name__, kind.name)]
        marks = {"task": [pytest.mark.slow]}
        params = [pytest.param(kind, marks=marks.get(kind.name, []), id=str(kind)) for kind in kinds]
        metafunc.parametrize("kind", params)


@pytest.fixture(scope="module")
def call_task(
    running_engine: EngineSimulator, urls: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CeleryCalls]:
    """Calls tasks of a running worker, which asks the simulated engine."""
    app = Celery("bridge", set_as_current=False)
    app.config_from_object("celeryconfig")
    app.conf.broker_url = app.conf.result_backend = urls[0]
    calls, asks = CeleryCalls(app), f"{running_engine.base_url}/webhook"
    with shop_worker(SHOP, tmp_path_factory.mktemp("shop"), urls[0], threads=16, SHOP_ASKS=asks):
        Maker("", EngineHttp(1), calls).make("task").answer(question("are you there?", deadline_seconds=30))
        yield calls
    app.close()


@pytest.fixture
def maker(server: EngineSimulator, engine_http: EngineHttp, kind: Kind, request: pytest.FixtureRequest) -> Maker:
    """Makes engines that ask the simulated one."""
    call = request.getfixturevalue("call_task") if kind.name == "task" else None
    server.clear()
    return Maker(server.base_url, engine_http, call)


@pytest.fixture
def engine(kind: Kind, maker: Maker) -> Engine:
    return maker.make(kind)


def failure(engine: Engine, seconds: float = 10.0) -> BridgeError:
    with pytest.raises(BridgeError) as caught:
        engine.answer(question(deadline_seconds=seconds))
    return caught.value


def test_the_answer_is_what_the_engine_said_and_the_engine_is_asked_once(
    engine: Engine, server: EngineSimulator
) -> None:
    server.script(text="你好！\n我是**助手** 👩‍👩‍👧")
    assert engine.answer(question("在吗")).text == "你好！\n我是**助手** 👩‍👩‍👧"
    assert len(server.calls) == 1
    assert "在吗" in server.calls[0].data.decode()


def test_the_table_of_what_does_not_apply_names_tests_that_exist() -> None:
    named = {*ECHO, *(test for tests in DOES_NOT_APPLY.values() for test in tests)}
    assert named - set(globals()) == set()
    assert set(DOES_NOT_APPLY) - {kind.name for kind in KINDS_TO_ASK} == set()


def test_two_questions_in_a_row_get_their_own_answers(engine: Engine) -> None:
    assert [engine.answer(question(text, turn_id=text)).text for text in ("一", "二")] == ["一", "二"]


def test_thoughts_are_not_sent(engine: Engine, server: EngineSimulator) -> None:
    server.script(text="<think>\nthe person wants 42\n</think>\n\n四十二", reasoning="secret thoughts")
    assert engine.answer(question()).text == "四十二"


def test_skip_as_the_whole_answer_is_silence(engine: Engine, server: EngineSimulator) -> None:
    server.script(text=" [SKIP]\n")
    answer = engine.answer(question())
    assert (answer.text, answer.files) == ("", ())


@pytest.mark.parametrize("script", [{"text": ""}, {"text": " \n"}, {"null": True}, {"text": "<think>hm"}], ids=str)
def test_an_empty_answer_may_be_better_next_time(
    engine: Engine, server: EngineSimulator, script: dict[str, Any]
) -> None:
    server.script(**script)
    assert isinstance(failure(engine), EngineUnavailable)


def test_lone_halves_of_characters_become_replacement_characters(engine: Engine, server: EngineSimulator) -> None:
    server.script(pieces=["笑\ud83d", "\ude00 \ud83d!"])
    assert engine.answer(question()).text == "笑😀 \ufffd!"


def test_an_answer_too_large_to_be_one_is_refused(engine: Engine, server: EngineSimulator) -> None:
    server.script(pieces=[MANY])
    error = failure(engine)
    assert isinstance(error, EngineRefused)
    assert "allowed" in str(error)


def test_an_answer_that_a_content_filter_withheld_is_given_up(engine: Engine, server: EngineSimulator) -> None:
    server.script(text="", finish_reason="content_filter")
    error = failure(engine)
    assert isinstance(error, EngineRefused)
    assert "content filter" in str(error)


def test_calls_of_tools_without_a_text_are_given_up(engine: Engine, server: EngineSimulator) -> None:
    server.script(tool_calls=True)
    error = failure(engine)
    assert isinstance(error, EngineRefused)
    assert "wants to call tools" in str(error)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_tried_again(engine: Engine, server: EngineSimulator, status: int) -> None:
    server.script(status=status, message="later please")
    error = failure(engine)
    assert isinstance(error, EngineUnavailable)
    assert f"{status}" in str(error)
    assert "later please" in str(error)
    assert len(server.calls) == 1


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_what_will_not_pass_is_given_up(kind: Kind, engine: Engine, server: EngineSimulator, status: int) -> None:
    server.script(status=500 if kind.name == "fastgpt" else status, code=status, message="not like this")
    error = failure(engine)
    assert isinstance(error, EngineRefused)
    assert f"{status}" in str(error)
    assert "not like this" in str(error)


@pytest.mark.parametrize(("header", "seconds"), [("7", 7.0), ("1e9", 3600.0), ("soon", None), ("-1", None)])
def test_the_pause_an_engine_asks_for_is_kept_within_reason(
    engine: Engine, server: EngineSimulator, header: str, seconds: float | None
) -> None:
    server.script(status=429, headers={"Retry-After": header})
    error = failure(engine)
    assert isinstance(error, EngineUnavailable)
    assert error.retry_after_seconds == seconds


def test_a_redirect_is_not_followed(engine: Engine, server: EngineSimulator) -> None:
    server.script(status=302, headers={"Location": f"{server.base_url}/elsewhere"})
    error = failure(engine)
    assert isinstance(error, EngineRefused)
    assert "redirect" in str(error)


@pytest.mark.parametrize("body", ["<html>busy</html>", "", "not json", "[1]", "{", '{"hello": 1}', "[" * 100_000])
@pytest.mark.parametrize("status", [200, 502])
def test_something_other_than_the_protocol_may_pass(
    engine: Engine, server: EngineSimulator, status: int, body: str
) -> None:
    server.script(status=status, body=body)
    assert isinstance(failure(engine), EngineUnavailable)


def test_an_error_inside_a_200_is_an_error(engine: Engine, server: EngineSimulator) -> None:
    server.script(error={"message": "node failed", "code": 500})
    error = failure(engine)
    assert isinstance(error, EngineUnavailable)
    assert "node failed" in str(error)


def test_nobody_listening_may_pass(kind: Kind, maker: Maker) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but not listening: connections are refused
        error = failure(maker.make(kind, f"http://127.0.0.1:{taken.getsockname()[1]}"))
    assert isinstance(error, EngineUnavailable)
    assert "Connection refused" in str(error)


@pytest.mark.parametrize("size", [0, 30])
def test_an_answer_cut_off_is_no_answer(engine: Engine, server: EngineSimulator, size: int) -> None:
    server.script(text="long enough to be cut off in the middle of it", cut_after_bytes=size)
    assert isinstance(failure(engine), EngineUnavailable)


def test_an_engine_that_never_answers_is_left_at_the_deadline(engine: Engine, server: EngineSimulator) -> None:
    server.script(hang=True)
    started = time.monotonic()
    error = failure(engine, seconds=0.4)
    assert isinstance(error, EngineUnavailable)
    assert 0.3 < time.monotonic() - started < 3


def test_an_engine_that_drips_is_left_at_the_deadline(engine: Engine, server: EngineSimulator) -> None:
    server.script(text="drip" * 100, drip_seconds=0.05)
    started = time.monotonic()
    error = failure(engine, seconds=0.5)
    assert isinstance(error, EngineUnavailable)
    assert "0.5 s" in str(error)
    assert time.monotonic() - started < 3


def test_bytes_that_are_no_utf8_cost_no_more_than_themselves(
    kind: Kind, engine: Engine, server: EngineSimulator
) -> None:
    server.script(text="before MARK after")
    good = _body_said(kind, server, engine)
    server.script(body_base64=good, headers=_content_type(kind))
    assert engine.answer(question(turn_id="again")).text == "before \ufffd\ufffd after"


@pytest.mark.parametrize("status", [401, 500, 200])
def test_the_key_is_in_no_error_even_when_the_engine_repeats_it(
    engine: Engine, server: EngineSimulator, status: int
) -> None:
    said = f"Incorrect key provided: {KEY}, Authorization: Bearer {KEY}"
    script = {"error": {"message": said, "code": 401}} if status == 200 else {"status": status, "message": said}
    server.script(**script)
    error = failure(engine)
    assert "Incorrect key provided" in str(error)
    assert KEY not in "".join(traceback.format_exception(error))


def test_an_engine_that_is_printed_shows_no_key(engine: Engine) -> None:
    known = {name: value for name, value in vars(engine).items() if name not in ("_key", "_secret")}
    assert KEY not in repr(engine)
    assert KEY not in repr(known)


def test_many_people_at_once_get_each_their_own_answer(engine: Engine, server: EngineSimulator) -> None:
    server.script(times=None, delay_seconds=0.05)
    people = [f"person {number}" for number in range(50)]

    def ask(person: str) -> str:
        return engine.answer(question(f"I am {person}", turn_id=person, chat_id=person, deadline_seconds=30)).text

    with ThreadPoolExecutor(50) as pool:
        assert list(pool.map(ask, people)) == [f"I am {person}" for person in people]


def _content_type(kind: Kind) -> dict[str, str]:
    return {"Content-Type": "text/event-stream" if kind.stream else "application/json"}


def _body_said(kind: Kind, server: EngineSimulator, engine: Engine) -> str:
    """What the simulated engine says, as base64, with two bytes in it that are no UTF-8."""
    engine.answer(question())
    call = server.calls[-1]
    server.clear()
    server.script(pieces=["before MARK after"])
    answer = requests.post(f"{server.base_url}{call.path}", data=call.data, timeout=5)
    return base64.b64encode(answer.content.replace(b"MARK", b"\xff\xfe")).decode()
