"""Whatever JSON comes in, the simulator answers with a code and goes on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wechat_bridge.simulators.wecom import WecomControl

from .conftest import USER, Api

NAMES = [
    "touser",
    "toparty",
    "msgtype",
    "agentid",
    "text",
    "content",
    "markdown",
    "image",
    "media_id",
    "news",
    "articles",
    "textcard",
    "template_card",
    "card_type",
    "card_action",
    "enable_duplicate_check",
    "duplicate_check_interval",
    "open_kfid",
    "cursor",
    "token",
    "limit",
    "msgid",
    "msgmenu",
    "list",
    "click",
    "code",
    "external_userid",
    "service_state",
    "response_code",
]
WORDS = st.sampled_from(["", USER, "wk1", "text", "news", "msgmenu", "template_card", "text_notice", "image", "@all"])
LEAVES = st.none() | st.booleans() | st.integers() | WORDS | st.text(st.characters(codec="utf-8"), max_size=5)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=12,
)
PATHS = ["message/send", "message/recall", "message/update_template_card", "kf/sync_msg", "kf/send_msg"]


@pytest.mark.parametrize("path", [*PATHS, "kf/send_msg_on_event", "kf/service_state/get", "kf/service_state/trans"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8), known=st.booleans())
def test_any_object_is_answered_with_a_code(
    control: WecomControl, api: Api, path: str, body: dict[str, Any], known: bool
) -> None:
    if "wk1" not in {account["open_kfid"] for account in api.post("kf/account/list", {})["account_list"]}:
        control.create_kf_account(api.key, open_kfid="wk1")
        control.kf_say("wk1", USER, "hi")
    right = {"agentid": int(api.app["agent_id"]), "open_kfid": "wk1", "touser": USER, "external_userid": USER}
    assert isinstance(api.post(path, {**body, **(right if known else {})})["errcode"], int)
