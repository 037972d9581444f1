from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from wechat_bridge.simulators.control_client import ControlCallError
from wechat_bridge.simulators.ilink import IlinkControl, IlinkSimulator

from .conftest import USER, BotClient, Json, is_closed


def test_a_bot_can_be_made_with_given_credentials(control: IlinkControl) -> None:
    given = control.create_bot(user_id=USER, bot_id="a1b2c3d4e5f6@im.bot", token="a1b2c3d4e5f6@im.bot:00ff")
    assert given == {
        "bot_id": "a1b2c3d4e5f6@im.bot",
        "token": "a1b2c3d4e5f6@im.bot:00ff",
        "base_url": control.base_url,
        "user_id": USER,
    }
    assert control.bots() == [given]


def test_made_up_credentials_have_the_shape_of_real_ones(control: IlinkControl) -> None:
    made = control.create_bot()
    assert made["bot_id"].endswith("@im.bot")
    assert made["token"].startswith(made["bot_id"] + ":")
    assert len(made["user_id"]) == len(USER)


@pytest.mark.parametrize(
    ("command", "parameters", "says"),
    [
        ("write", {"bot_id": "nobody", "messages": []}, "there is no bot 'nobody'"),
        ("write", {"bot_id": 1}, "bot_id"),
        ("fly", {}, "there is no control command 'fly'"),
        ("script", {"endpoint": "nowhere", "entry": {}}, "there is no endpoint 'nowhere'"),
        ("script", {"endpoint": "getupdates", "entry": {"anwser": 1}}, "anwser"),
        ("set_options", {"changes": {"hold_second": 1}}, "hold_second"),
        ("set_options", {"changes": {"cursor": "lax"}}, "cursor"),
        ("scan", {"qrcode": "x"}, "no QR code 'x' was given out"),
        ("show_statuses", {"qrcode": "x", "statuses": []}, "at least one"),
        ("get_media", {"encrypt_query_param": "x"}, "there is no file 'x'"),
        ("put_media", {"data_base64": "?"}, "not base64"),
        ("redeliver", {"bot_id": "nobody", "message_id": "1"}, "there is no bot"),
    ],
)
def test_a_command_that_cannot_be_done_says_why(
    control: IlinkControl, command: str, parameters: Json, says: str
) -> None:
    response = requests.post(f"{control.base_url}/_control/{command}", json=parameters, timeout=5)
    assert response.status_code == 400
    assert says in response.json()["error"]


@pytest.mark.parametrize("body", ["{", "[]"])
def test_a_body_that_is_no_json_object_is_refused(control: IlinkControl, body: str) -> None:
    response = requests.post(f"{control.base_url}/_control/stats", data=body, timeout=5)
    assert response.status_code == 400
    assert "JSON" in response.json()["error"]


def test_the_python_client_raises_what_the_server_says(control: IlinkControl) -> None:
    with pytest.raises(ControlCallError, match="there is no bot 'nobody'"):
        control.say("nobody", USER, "hi")
    with pytest.raises(ControlCallError, match="never got a message 7"):
        control.redeliver(control.create_bot()["bot_id"], "7")
    with pytest.raises(ControlCallError, match="a bot with this token already"):
        control.create_bot(token=control.bots()[0]["token"])
    with pytest.raises(ControlCallError, match="no client asked for a QR code"):
        control.wait_for_qrcode(timeout_seconds=0)


def test_figures_can_be_read_from_a_browser(bot: BotClient) -> None:
    response = requests.get(f"{bot.base_url}/_control/stats?bot_id={bot.bot_id}", timeout=5)
    assert response.json()["token_valid"] is True
    url = f"{bot.base_url}/_control/deliveries?user_id={USER}&after=0&count=1&timeout_seconds=0.1"
    assert requests.get(url, timeout=5).json() == []


def test_the_figures_of_the_server_count_requests_per_endpoint_and_messages(bot: BotClient) -> None:
    [message] = bot.hear("hi")
    bot.send("hello", message["context_token"])
    bot.control.say(bot.bot_id, USER, "more")
    stats = bot.control.stats()
    assert stats["requests"] == {"getupdates": 1, "sendmessage": 1}
    assert (stats["bots"], stats["sends"]) == (1, 1)
    assert (stats["messages_written"], stats["messages_handed_out"]) == (2, 1)


def test_a_client_that_does_as_the_official_one_has_no_departures(bot: BotClient) -> None:
    [message] = bot.hear("hi")
    bot.send("hello", message["context_token"])
    assert bot.control.stats()["departures"] == {}


def test_departures_from_what_the_official_client_sends_are_counted_and_not_refused(bot: BotClient) -> None:
    url, headers = f"{bot.base_url}/ilink/bot/sendmessage", {"Authorization": f"Bearer {bot.token}"}
    msg = {"to_user_id": USER, "from_user_id": "me", "item_list": [{"type": 1, "text_item": {"text": "x"}}]}
    bot.control.set_options(check_context_token=False)
    wrong = {**headers, "X-WECHAT-UIN": "//8=", "Content-Type": "text/plain"}
    body = '{"msg": {}, "base_info": {"channel_version": "1", "bot_agent": "\u4e2d"}}'.encode()
    assert "message_id" in requests.post(url, json={"msg": msg}, headers=headers, timeout=5).json()
    requests.post(url, data=body, headers=wrong, timeout=5)
    assert bot.control.stats()["departures"] == {
        "no iLink-App-Id header": 2,
        "no iLink-App-ClientVersion header": 2,
        "AuthorizationType is not ilink_bot_token": 2,
        "X-WECHAT-UIN is not base64 of a decimal uint32": 2,
        "Content-Type is not application/json": 1,
        "no base_info.channel_version": 1,
        "base_info.bot_agent is not ASCII of at most 256 bytes": 1,
        "sendmessage without client_id": 2,
        "sendmessage without context_token": 2,
        "sendmessage with a from_user_id": 1,
        "sendmessage whose message_type and message_state are not 2": 2,
    }


def test_a_switch_of_one_bot_goes_before_the_servers_and_keeps_doing_so(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, longpolling_timeout_ms=1, hold_seconds=0)
    bot.control.set_options(longpolling_timeout_ms=2, batch_limit=3)
    assert bot.poll()["longpolling_timeout_ms"] == 1
    assert bot.control.options(bot.bot_id)["batch_limit"] == 3
    assert bot.control.options()["longpolling_timeout_ms"] == 2


def test_a_reset_forgets_bots_messages_scripts_and_switches(bot: BotClient) -> None:
    bot.control.set_options(hold_seconds=0.5)
    bot.control.script("getupdates", answer={"ret": 9})
    bot.control.reset()
    assert bot.control.bots() == []
    assert bot.control.options()["hold_seconds"] == 5
    assert bot.poll()["errcode"] == -14


@pytest.mark.parametrize(("method", "path"), [("GET", "ilink/bot/getupdates"), ("PUT", "c2c/upload")])
def test_a_wrong_method_is_refused(control: IlinkControl, method: str, path: str) -> None:
    assert requests.request(method, f"{control.base_url}/{path}", timeout=5).status_code == 405


def test_a_path_that_is_no_endpoint_is_not_found(control: IlinkControl) -> None:
    assert requests.post(f"{control.base_url}/ilink/bot/getcontacts", json={}, timeout=5).status_code == 404


def test_a_client_that_leaves_in_the_middle_of_its_request_leaves_no_trace(
    bot: BotClient, caplog: pytest.LogCaptureFixture
) -> None:
    host, port = bot.base_url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(bot.raw_request("getupdates", {})[:-1])
    assert bot.control.stats()["requests"] == {}
    assert caplog.text == ""


@pytest.mark.parametrize("body", ["{", "[]"])
def test_a_request_whose_body_is_no_json_object_is_refused(bot: BotClient, body: str) -> None:
    url = f"{bot.base_url}/ilink/bot/getupdates"
    response = requests.post(url, data=body, headers=bot.headers, timeout=5)
    assert response.json() == {"ret": -2, "errmsg": "invalid arguments"}


def test_two_simulators_run_side_by_side_and_a_taken_port_is_an_error(simulator: IlinkSimulator) -> None:
    with IlinkSimulator() as second:
        assert second.base_url != simulator.base_url
        assert second.control.stats()["bots"] == 0
        port = int(second.base_url.rpartition(":")[2])
        with pytest.raises(OSError, match=str(port)):
            IlinkSimulator(port=port).start()


def test_the_simulator_ends_at_once_even_while_a_poll_and_a_status_poll_are_held() -> None:
    with IlinkSimulator() as simulator, ThreadPoolExecutor(1) as threads:
        credentials = simulator.control.create_bot()
        client = BotClient(simulator.control, credentials["bot_id"], credentials["token"])
        connection = client.raw_poll()
        qrcode = requests.get(f"{client.base_url}/ilink/bot/get_bot_qrcode?bot_type=3", timeout=5).json()["qrcode"]
        url = f"{client.base_url}/ilink/bot/get_qrcode_status?qrcode={qrcode}"
        status = threads.submit(requests.get, url, timeout=10)
        started = time.monotonic()
        while "get_qrcode_status" not in simulator.control.stats()["requests"]:
            assert time.monotonic() - started < 5
        simulator.stop()
        assert isinstance(status.exception(5), requests.ConnectionError)
    assert is_closed(connection)
    client.close()
    assert time.monotonic() - started < 5
