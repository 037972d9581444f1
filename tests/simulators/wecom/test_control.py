"""The control API: what it refuses, what it remembers and forgets."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from wechat_bridge.simulators.control_client import ControlCallError
from wechat_bridge.simulators.wecom import WecomControl

from .conftest import USER, Api
from .receiver import Receiver, Reply


def test_an_app_is_made_up_or_made_as_told(control: WecomControl) -> None:
    made_up = control.create_app()
    assert len(made_up["encoding_aes_key"]) == 43
    assert made_up["api_base_url"] == control.base_url
    told = control.create_app("wwCORP", agent_id="7", secret="s", token="t", encoding_aes_key="k" * 43)
    assert (told["app"], told["secret"], told["token"]) == ("wwCORP:7", "s", "t")
    assert [app["app"] for app in control.apps()] == [made_up["app"], "wwCORP:7"]


@pytest.mark.parametrize(
    ("command", "parameters", "says"),
    [
        ("dance", {}, "there are: advance_clock"),
        ("write", {"app": "nobody", "user_id": USER, "messages": []}, "create_app"),
        ("set_options", {"changes": {"user_per_minute": "many"}}, "user_per_minute"),
        ("kf_ring", {"open_kfid": "none"}, "create_kf_account"),
        ("repeat", {"callback_id": "cb-none"}, "cb-none"),
        ("script", {"path": "gettoken", "entry": {"errorcode": 1}}, "errorcode"),
    ],
)
def test_a_wrong_command_says_what_is_wrong(
    control: WecomControl, command: str, parameters: dict[str, Any], says: str
) -> None:
    with pytest.raises(ControlCallError, match=says):
        control.call(command, **parameters)


def test_an_app_is_not_made_twice_and_has_no_unknown_settings(control: WecomControl) -> None:
    app = control.create_app("wwCORP", agent_id="7")["app"]
    with pytest.raises(ControlCallError, match="already"):
        control.create_app("wwCORP", agent_id="7")
    with pytest.raises(ControlCallError, match="no mood"):
        control.set_app(app, mood="good")


def test_commands_can_be_asked_with_get(control: WecomControl) -> None:
    found = requests.get(f"{control.base_url}/_control/deliveries", params={"count": "0"}, timeout=10)
    assert found.json() == []


def test_the_figures_count_calls_outcomes_and_callbacks(control: WecomControl, receiver: Receiver, app: str) -> None:
    assert receiver.credentials is not None
    api = Api(receiver.credentials)
    api.send("hi")
    api.send("hi", agentid=1)
    control.say(app, USER, "hi")
    control.callbacks(app, count=1)
    stats = control.stats()
    assert stats["calls"] == {"gettoken 0": 2, "message/send 0": 1, "message/send 40056": 1}
    assert (stats["outcomes"], stats["callbacks"], stats["attempts"]) == ({"shown": 1}, {"accepted": 1}, 1)
    assert 0 < stats["answer_seconds_p50"] <= stats["answer_seconds_p99"]


def test_a_reset_forgets_everything_and_stops_what_is_on_its_way(
    control: WecomControl, receiver: Receiver, app: str
) -> None:
    receiver.reply = Reply(status=500)
    control.set_options(user_per_minute=1, callback_pause_seconds=1)
    control.say(app, USER, "hi")
    receiver.wait(1)
    control.reset()
    assert (control.apps(), control.callbacks(), control.calls()) == ([], [], [])
    assert control.options()["user_per_minute"] == 30
    receiver.reply = Reply()
    # When this one arrives, the repeat of the first would have arrived before it.
    control.say(control.create_app(callback_url=receiver.url)["app"], USER, "later", delay_seconds=1.3)
    control.callbacks(count=1)
    assert len(receiver.received) == 2


def test_ids_are_strings_in_every_row(control: WecomControl, receiver: Receiver, app: str) -> None:
    [msg_id] = control.say(app, USER, "hi")
    [row] = control.callbacks(app, count=1)
    assert row["fields"]["MsgId"] == msg_id
