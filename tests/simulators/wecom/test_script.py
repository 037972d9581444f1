"""Scripted answers and faults of qyapi."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from wechat_bridge.simulators.control_client import ControlCallError
from wechat_bridge.simulators.wecom import WecomControl

from .conftest import USER, Api


def test_a_code_is_answered_so_many_times_and_nothing_is_seen_of_those_calls(control: WecomControl, api: Api) -> None:
    control.script("message/send", errcode=-1, times=2)
    assert [api.send(text)["errcode"] for text in "abc"] == [-1, -1, 0]
    assert [shown["text"] for shown in control.deliveries(USER)] == ["c"]
    assert [row["scripted"] for row in control.calls("message/send")] == [True, True, False]


def test_a_script_of_one_app_leaves_others_alone(control: WecomControl, api: Api) -> None:
    other = Api(control.create_app())
    control.script("message/send", app=api.key, errcode=45033, times=None)
    assert (other.send("hi")["errcode"], api.send("hi")["errcode"]) == (0, 45033)
    control.clear_script()
    assert api.send("hi")["errcode"] == 0


def test_an_accepted_message_whose_answer_never_comes_is_seen(control: WecomControl, api: Api) -> None:
    control.script("message/send", hang=True, process=True)
    token = api.token()
    with pytest.raises(requests.ReadTimeout):
        api.post("message/send", api.text("hi"), token, timeout_seconds=0.3)
    assert [shown["text"] for shown in control.deliveries(USER, count=1)] == ["hi"]
    assert [row["errcode"] for row in control.calls("message/send", count=1)] == [None]


@pytest.mark.parametrize(("process", "seen"), [(False, []), (True, ["hi"])])
def test_a_connection_is_cut_before_or_after_the_message_was_taken(
    control: WecomControl, api: Api, process: bool, seen: list[str]
) -> None:
    control.script("message/send", cut=True, process=process)
    with pytest.raises(requests.ConnectionError):
        api.send("hi")
    assert [shown["text"] for shown in control.deliveries(USER)] == seen


def test_an_answer_breaks_off_in_the_middle(control: WecomControl, api: Api) -> None:
    control.script("message/send", cut_after_bytes=5)
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        api.send("hi")
    assert [shown["text"] for shown in control.deliveries(USER)] == ["hi"]


def test_a_proxy_answers_html_with_its_own_status(control: WecomControl, api: Api) -> None:
    control.script("gettoken", body="<html>bad gateway</html>", status=502)
    found = requests.get(f"{api.base_url}/gettoken", timeout=10)
    assert (found.status_code, found.text) == (502, "<html>bad gateway</html>")


def test_an_answer_of_any_shape_may_be_late(control: WecomControl, api: Api) -> None:
    control.script("gettoken", answer={"errcode": 0, "access_token": "T", "expires_in": 1}, delay_seconds=0.3)
    started = time.monotonic()
    assert api.gettoken()["access_token"] == "T"
    assert time.monotonic() - started >= 0.3


def test_a_second_call_while_the_first_is_open_is_refused_where_only_one_may_be(
    control: WecomControl, api: Api
) -> None:
    token = api.token()
    control.set_options(concurrent_calls=1, call_seconds=1)
    with ThreadPoolExecutor(2) as threads:
        answers = [threads.submit(api.send, text, token=token) for text in "ab"]
        codes = sorted(answer.result()["errcode"] for answer in answers)
    assert codes == [0, 45033]
    assert len(control.deliveries(USER)) == 1


def test_a_path_that_does_not_exist_cannot_be_scripted(control: WecomControl) -> None:
    with pytest.raises(ControlCallError, match="message/send"):
        control.script("message/sent", errcode=1)
