"""``/wecom/{share_id}`` through a real server, called as WeCom calls."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.support import healthy
from tests.support.system import wait_until
from tests.support.together import together
from tests.support.wecom_app import SECRETS, App, parameters
from tests.web.calling import call, check
from tests.web.conftest import WebProcess
from wechat_bridge.channels.wecom.callback import Signed, crypto_of
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.channel import Channel, ChannelKind, ChannelStatus, StatusReason
from wechat_bridge.simulators.wecom import AppCredentials, WecomControl
from wechat_bridge.wiring import Wired


@pytest.fixture(scope="module")
def second(urls: tuple[str, str], repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebProcess]:
    """Another web process on the same databases, behind a proxy that takes the prefix /bridge off."""
    with WebProcess(repository, tmp_path_factory.mktemp("second"), urls, UVICORN_ROOT_PATH="/bridge") as process:
        yield process


@pytest.fixture
def bridge(wired: Wired) -> Bridge:
    """The bridge that looks into the ledger."""
    return wired.bridge


@pytest.fixture
def app(bridge: Bridge) -> App:
    """An app of this test alone."""
    return App.create(bridge)


def test_the_url_check_is_answered_with_the_bare_text(web: WebProcess, app: App) -> None:
    answer = check(web, app, "1616140317555161061")
    assert (answer.status_code, answer.content) == (200, b"1616140317555161061")
    assert answer.elapsed.total_seconds() < 1


def test_a_message_is_kept_and_answered_with_nothing(web: WebProcess, app: App) -> None:
    answer = call(web, app, app.text("你好 😀 ]]>"))
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.elapsed.total_seconds() < 1
    assert app.texts() == ["你好 😀 ]]>"]
    assert app.rows()[0].source == "callback"


def test_the_simulated_console_takes_the_address_and_the_simulated_members_are_heard(
    web: WebProcess, bridge: Bridge, wecom: WecomControl, console: AppCredentials
) -> None:
    secrets = SECRETS.model_copy(update={"token": console["token"], "encoding_aes_key": console["encoding_aes_key"]})
    app = App.create(bridge, secrets, corp_id=console["corp_id"], agent_id=console["agent_id"])
    checked = wecom.set_callback(console["app"], f"http://127.0.0.1:{web.port}/wecom/{app.share_id}")
    assert checked["ok"], checked
    wecom.say(console["app"], "ZhangSan", "one 😀", "two", duplicates=2, at_once=True)
    wecom.event(console["app"], "ZhangSan", "enter_agent")
    wecom.write(console["app"], "ZhangSan", [{"MsgType": "a-new-type"}])
    wecom.say(console["app"], "ZhangSan", "forged", wrong_signature=True, attempts=1)
    rows = wecom.callbacks(console["app"], count=5)
    assert [row["state"] for row in rows] == ["accepted"] * 4 + ["given_up"]
    attempts = [attempt for row in rows[:4] for attempt in row["attempts"]]
    assert {attempt["status"] for attempt in attempts} == {200}
    assert max(attempt["seconds"] for attempt in attempts) < 1
    assert rows[4]["attempts"][0]["status"] == 403
    kept = sorted((row.state.value, row.reason) for row in app.rows())
    unknown = ("failed", "unknown message type 'a-new-type'")
    assert kept == [unknown, ("pending", ""), ("pending", ""), ("skipped", "event: enter_agent")]


def test_field_report_6_the_same_callback_at_two_processes_in_the_same_moment_is_one_row(
    web: WebProcess, second: WebProcess, app: App
) -> None:
    for number in range(5):
        message = app.text(f"message {number}", MsgId=9_001 + number)
        answers = together(4, lambda n, message=message: call((web, second)[n % 2], app, message))  # type: ignore[misc]
        assert [answer.status_code for answer in answers] == [200] * 4
        assert max(answer.elapsed.total_seconds() for answer in answers) < 1
    assert app.texts() == [f"message {number}" for number in range(5)]


def test_it_works_behind_a_prefix(second: WebProcess, app: App) -> None:
    assert check(second, app, "behind").content == b"behind"
    assert call(second, app, app.text()).status_code == 200


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_refused(web: WebProcess, app: App, method: str) -> None:
    answer = requests.request(method, f"http://127.0.0.1:{web.port}/wecom/{app.share_id}", timeout=10)
    assert answer.status_code == 405


def test_a_wrong_signature_and_a_name_that_is_no_channel_look_the_same(web: WebProcess, app: App) -> None:
    wrong = call(web, app, app.text(), msg_signature="0" * 40)
    unknown = call(web, app, app.text(), path="/wecom/nobody-of-this-name")
    strange = call(web, app, app.text(), path="/wecom/%2e%2e%00NOT")
    ours = ("date", "content-length", "content-type", "cache-control", "x-content-type-options")
    for answer in (wrong, unknown, strange):
        assert (answer.status_code, answer.text) == (403, "forbidden")
        assert sorted(answer.headers) == sorted(wrong.headers)
        assert set(map(str.lower, answer.headers)) == set(ours)
        assert 0.03 <= answer.elapsed.total_seconds() < 0.5
    assert app.rows() == []


def test_field_report_40_nothing_that_is_wrong_with_a_url_check_is_an_error_of_ours(web: WebProcess, app: App) -> None:
    crypto = crypto_of(app.account)
    other = crypto_of(app.account.model_copy(update={"corp_id": "wwOTHER"}))
    odd = crypto.seal(b"x")[:-4] + "AA=="
    plus = next(sealed for sealed in (crypto.seal(b"text") for _ in range(1_000)) if "+" in sealed)
    assert check(web, app, sealed=crypto.seal(b"text"), msg_signature="0" * 40).status_code == 403
    assert check(web, app, sealed=other.seal(b"text")).status_code == 400
    assert check(web, app, sealed=odd).status_code == 400
    assert check(web, app, sealed=plus).content == b"text"
    assert check(web, app, sealed=plus, echostr=plus.replace("+", " ")).status_code == 403
    for missing in ("msg_signature", "timestamp", "nonce", "echostr"):
        assert check(web, app, "text", seconds=10.0, **{missing: ""}).status_code == 400
    assert check(web, app, "text", msg_signature="", signature="0" * 40).status_code == 400
    assert "Traceback" not in web.log.read_text()


def test_field_report_40_nothing_that_is_wrong_with_a_callback_is_an_error_of_ours(web: WebProcess, app: App) -> None:
    assert call(web, app, app.text(AgentID=1)).status_code == 403
    assert call(web, app, app.text(), age_seconds=24 * 3600).status_code == 403
    assert call(web, app, b"no xml").status_code == 400
    assert app.rows() == []
    query, body = app.post(app.text("again"))
    replays = [call(web, app, post=(query, body)).status_code for _ in range(3)]
    assert (replays, app.texts()) == ([200] * 3, ["again"])
    assert "Traceback" not in web.log.read_text()


def test_a_query_that_names_something_twice_is_malformed(web: WebProcess, app: App) -> None:
    query, body = app.post(app.text())
    pairs = [*parameters(query).items(), ("nonce", "another")]
    answer = requests.post(f"http://127.0.0.1:{web.port}/wecom/{app.share_id}", params=pairs, data=body, timeout=10)
    assert answer.status_code == 400


def test_what_is_refused_says_why_in_our_log_and_no_secret(web: WebProcess, app: App) -> None:
    call(web, app, app.text(), msg_signature="0" * 40)
    check(web, app, "very-secret-echo")
    log = web.log.read_text()
    assert "check that Token is the same here and at WeCom" in log
    for secret in (SECRETS.token, SECRETS.encoding_aes_key, SECRETS.secret, "echostr", "msg_signature"):
        assert secret not in log


def test_uvicorn_writes_no_line_for_each_request_even_where_it_is_told_to(
    urls: tuple[str, str], repository: Path, tmp_path: Path, app: App
) -> None:
    class Chatty(WebProcess):
        def command(self) -> list[str]:
            return [word for word in super().command() if word != "--no-access-log"]

    process = Chatty(repository, tmp_path, urls)
    process.start()
    try:
        assert check(process, app, "echo").status_code == 200
        assert call(process, app, app.text()).status_code == 200
    finally:
        process.stop()
    assert "GET /" not in process.log.read_text()
    assert "msg_signature" not in process.log.read_text()


def test_metrics_and_health_say_what_came_and_when(web: WebProcess, app: App, bridge: Bridge) -> None:
    silent = Channel(id="silent", kind=ChannelKind.WECOM, status=ChannelStatus.ONLINE, status_reason=StatusReason.NONE)
    bridge.channels.collection.delete_many({"_id": {"$ne": app.share_id}})
    bridge.channels.add(silent)
    healthy.announce_all(bridge)
    before = web.get("/metrics").text
    for message in (app.text(), app.event("enter_agent")):
        assert call(web, app, message).status_code == 200
    never = "never called: silent. Enter https://YOUR-HOST/wecom/SHARE_ID under 接收消息 at WeCom"
    wait_until(lambda: _check(web, "callbacks").get("detail") == never, 5, "health names the one that was never called")
    bridge.channels.collection.delete_one({"_id": "silent"})
    wait_until(lambda: _check(web, "callbacks")["ok"], 5, "every channel was called")
    assert f"last called: {app.share_id}" in str(_check(web, "callbacks")["detail"])
    assert _check(web, "poll_chains") == {
        "name": "poll_chains", "ok": True, "detail": "there is no channel to poll", "warning": False,
    }  # fmt: skip
    after = web.get("/metrics").text
    for outcome in ("stored", "event"):
        assert _count(after, outcome) - _count(before, outcome) == 1
    assert f'wechat_bridge_last_callback_age_seconds{{channel="{app.share_id}"}}' in after


def _check(web: WebProcess, name: str) -> dict[str, object]:
    return next((one for one in web.get("/readyz").json()["checks"] if one["name"] == name), {})


def _count(metrics: str, outcome: str) -> float:
    start = f'wechat_bridge_callbacks_total{{outcome="{outcome}"}} '
    return next((float(line.removeprefix(start)) for line in metrics.splitlines() if line.startswith(start)), 0.0)


def test_the_url_check_has_room_while_callbacks_wait(web: WebProcess, app: App) -> None:
    signed = Signed("0" * 40, str(int(time.time())), "n")
    url = f"http://127.0.0.1:{web.port}/wecom/{app.share_id}"
    answers = together(30, lambda n: requests.post(url, params=parameters(signed), data=b"x" * 1000, timeout=10)
                       if n else check(web, app, "busy"))  # fmt: skip
    assert answers[0].content == b"busy"
    assert answers[0].elapsed.total_seconds() < 1
