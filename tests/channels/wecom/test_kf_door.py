"""The door of customer service against the simulated WeCom and against one that says what a test wants."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.customer_world import kf_settings_of
from tests.support.wecom_world import secrets_of
from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.wecom.answers import Answer
from wechat_bridge.channels.wecom.api import WecomApi
from wechat_bridge.channels.wecom.kf_codes import kf_error_of
from wechat_bridge.channels.wecom.kf_door import KfDoor
from wechat_bridge.errors import (
    AddressNotTrusted,
    BridgeError,
    ContentRefused,
    NotConfigured,
    PermissionMissing,
    PlatformUnavailable,
    QuotaUsedUp,
    RecipientRefused,
    SendBudgetExhausted,
    SessionNotOurs,
)
from wechat_bridge.model.channel import Account
from wechat_bridge.model.wecom_kf import KfAccount, kf_account_of, msgid_of
from wechat_bridge.simulators.wecom import AppCredentials, WecomControl
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.wecom_tokens import WecomTokens

ANN = "wm-ann"


@pytest.fixture
def account(wecom: WecomControl, console: AppCredentials) -> KfAccount:
    """An account of the app's, to which ann has written."""
    open_kfid = wecom.create_kf_account(console["app"])
    wecom.kf_say(open_kfid, ANN, "hello", doorbell=False)
    return kf_account_of(kf_settings_of(console, open_kfid), secrets_of(console))


@pytest.fixture
def door(http: HttpClient, redis_client: RedisClient) -> KfDoor:
    """A door that gives up on an answer after half a second."""
    return KfDoor(WecomApi(http, WecomTokens(redis_client), call_seconds=0.5))


def pulled(door: KfDoor, account: KfAccount, cursor: str = "", token: str = "") -> tuple[list[str], str, bool]:
    """Texts, cursor, and whether there is more."""
    page, _ = door.pull(account, cursor, token, datetime.now(UTC))
    return [entry.message.items[0].text for entry in page.entries], page.cursor, page.has_more


def test_what_was_said_is_pulled_once(door: KfDoor, account: KfAccount) -> None:
    texts, cursor, has_more = pulled(door, account)
    assert (texts, has_more) == (["hello"], False)
    assert pulled(door, account, cursor)[0] == []


def test_an_empty_page_may_be_followed_by_more(door: KfDoor, account: KfAccount, wecom: WecomControl) -> None:
    wecom.set_options(kf_empty_pages=1)
    texts, cursor, has_more = pulled(door, account)
    assert (texts, has_more) == ([], True)
    assert pulled(door, account, cursor)[0] == ["hello"]
    wecom.set_options(kf_empty_pages=0)


def test_a_dead_access_token_is_renewed_within_the_call(
    door: KfDoor, account: KfAccount, console: AppCredentials, wecom: WecomControl
) -> None:
    pulled(door, account)
    wecom.expire_token(console["app"])
    assert pulled(door, account)[0] == ["hello"]


def test_a_refused_event_token_is_left_out(door: KfDoor, account: KfAccount, wecom: WecomControl) -> None:
    page, is_good = door.pull(account, "", "ENCwrong", datetime.now(UTC))
    assert (len(page.entries), is_good) == (1, False)
    assert [json.loads(call["body"]).get("token") for call in wecom.calls("kf/sync_msg")] == ["ENCwrong", None]


def test_a_pull_that_is_refused_for_the_app_is_not_tried_again_without_its_token(
    door: KfDoor, account: KfAccount, wecom: WecomControl
) -> None:
    wecom.script("kf/sync_msg", errcode=60020)
    with pytest.raises(AddressNotTrusted):
        door.pull(account, "", "ENCany", datetime.now(UTC))
    assert len(wecom.calls("kf/sync_msg")) == 1


def test_a_send_whose_answer_was_lost_is_accepted_when_it_is_sent_again_and_seen_once(
    door: KfDoor, account: KfAccount, wecom: WecomControl
) -> None:
    wecom.script("kf/send_msg", hang=True, process=True)
    with pytest.raises(PlatformUnavailable):
        door.send_text(account, ANN, "好的 😀", "c-1", "")
    assert door.send_text(account, ANN, "好的 😀", "c-1", "") == msgid_of("c-1")
    assert door.send_text(account, ANN, "好的 😀", "c-2", "") == msgid_of("c-2")
    assert [shown["text"] for shown in wecom.deliveries(ANN)] == ["好的 😀", "好的 😀"]


def test_a_text_that_would_be_cut_is_not_sent(door: KfDoor, account: KfAccount, wecom: WecomControl) -> None:
    with pytest.raises(ContentRefused):
        door.send_text(account, ANN, "中" * 683, "c-1", "")
    assert wecom.calls("kf/send_msg") == []


def test_while_a_human_serves_nothing_can_be_sent(door: KfDoor, account: KfAccount, wecom: WecomControl) -> None:
    wecom.kf_set_state(account.open_kfid, ANN, 3, doorbell=False)
    with pytest.raises(SessionNotOurs):
        door.send_text(account, ANN, "hello", "c-1", "")


def test_a_stranger_is_refused(door: KfDoor, account: KfAccount) -> None:
    with pytest.raises(RecipientRefused):
        door.send_text(account, "wm-stranger", "hello", "c-1", "")


def test_a_welcome_goes_out_once(door: KfDoor, account: KfAccount, wecom: WecomControl) -> None:
    code = wecom.kf_enter(account.open_kfid, ANN, doorbell=False)
    door.send_on_event(account, code, "欢迎！", "w-1")
    with pytest.raises(ContentRefused):
        door.send_on_event(account, code, "欢迎！", "w-2")
    assert [shown["text"] for shown in wecom.deliveries(ANN)] == ["欢迎！"]


def test_an_account_of_another_kind_is_refused(door: KfDoor) -> None:
    with pytest.raises(NotConfigured):
        door.send_text(Account(token="t", account_id="a", base_url="http://127.0.0.1:9"), ANN, "x", "c-1", "")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (95001, SendBudgetExhausted),
        (95002, SendBudgetExhausted),
        (95013, SessionNotOurs),
        (95018, SessionNotOurs),
        (40096, RecipientRefused),
        (48007, PermissionMissing),
        (95000, PermissionMissing),
        (45009, QuotaUsedUp),
        (95999, PlatformUnavailable),
        (-1, PlatformUnavailable),
    ],
)
def test_codes_mean_what_follows_from_them(code: int, kind: type[BridgeError]) -> None:
    error: Any = kf_error_of(Answer(code, "words"), "kf/send_msg")
    assert type(error) is kind
    assert str(code) in str(error)
