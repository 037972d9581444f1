"""Sending: what goes over the wire, once, and what WeCom's answers become."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from tests.channels.scripted_server import Exchange, ScriptedServer
from tests.channels.wecom.conftest import AES_KEY, SECRET, TOKEN
from tests.channels.wecom.fake import OK, FakeWecom, query, refusal
from wechat_bridge.channels.base import SendingDoor
from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.wecom.api import WecomApi
from wechat_bridge.channels.wecom.door import WecomDoor
from wechat_bridge.channels.wecom.sending import CHECK_SPREAD_SECONDS, SHORTEST_CHECK_SECONDS, check_seconds
from wechat_bridge.errors import (
    AddressNotTrusted,
    BridgeError,
    ContentRefused,
    CredentialRefused,
    NotConfigured,
    PlatformUnavailable,
    RecipientRefused,
)
from wechat_bridge.model import keys
from wechat_bridge.model.channel import Account
from wechat_bridge.model.chunks import split
from wechat_bridge.model.wecom import WecomAccount
from wechat_bridge.store.wecom_tokens import WecomTokens

SEND = "message/send"


@pytest.fixture
def door(api: WecomApi) -> WecomDoor:
    """The door under test."""
    return WecomDoor(api)


def send(
    door: SendingDoor, account: Account, text: str = "好的 😀 <a>", client_id: str = "c-1", to: str = "ann"
) -> str | None:
    return door.send_text(account, to, text, client_id, "")


def test_a_text_goes_out_as_documented_in_utf8_without_escapes(
    door: WecomDoor, account: WecomAccount, fake: FakeWecom
) -> None:
    assert send(door, account) == "m-1"
    asked, sent = fake.received
    assert query(asked) == {"corpid": account.corp_id, "corpsecret": SECRET}
    assert query(sent) == {"access_token": "t1"}
    assert sent.headers["content-type"] == "application/json; charset=utf-8"
    assert "好的 😀 <a>".encode() in sent.body
    body = sent.json()
    assert body.pop("duplicate_check_interval") == check_seconds("c-1")
    assert body == {
        "touser": "ann",
        "msgtype": "text",
        "agentid": 218,
        "text": {"content": "好的 😀 <a>"},
        "enable_duplicate_check": 1,
    }


def test_markdown_goes_out_as_markdown(door: WecomDoor, account: WecomAccount, fake: FakeWecom) -> None:
    assert door.send_text(account.model_copy(update={"markdown": True}), "ann", "**好**", "c-1", "") == "m-1"
    assert fake.calls(SEND)[0].json()["markdown"] == {"content": "**好**"}


def test_a_retry_is_the_same_to_the_byte_and_an_equal_reply_of_another_turn_is_not(
    door: WecomDoor, account: WecomAccount, fake: FakeWecom
) -> None:
    first, second = keys.client_id("wechat-reply:a:1", 0), keys.client_id("wechat-reply:a:2", 0)
    for client_id in (first, first, second):
        send(door, account, "好的", client_id)
    bodies = [sent.body for sent in fake.calls(SEND)]
    assert bodies[0] == bodies[1] != bodies[2]


def test_the_window_of_the_duplicate_check_is_within_bounds_and_spread() -> None:
    windows = [check_seconds(keys.client_id(f"turn-{number}", 0)) for number in range(2_000)]
    assert min(windows) >= SHORTEST_CHECK_SECONDS
    assert max(windows) < SHORTEST_CHECK_SECONDS + CHECK_SPREAD_SECONDS
    assert len(set(windows)) > CHECK_SPREAD_SECONDS / 2


def test_one_token_serves_many_sends(door: WecomDoor, account: WecomAccount, fake: FakeWecom) -> None:
    for number in range(5):
        send(door, account, client_id=f"c-{number}")
    assert len(fake.calls("gettoken")) == 1
    assert fake.tokens_used(SEND) == ["t1"] * 5


# 2,048 bytes (field report 14)


@pytest.mark.parametrize(
    "text",
    ["中" * 700 + "👍", "x" * 2_048, "x" * 2_047 + "中", "中文。" * 1_700],
    ids=["700 中", "2048", "2047+中", "5000 中"],
)
def test_the_parts_of_any_answer_fit_and_together_are_the_answer(
    door: WecomDoor, account: WecomAccount, fake: FakeWecom, text: str
) -> None:
    limit = 2_048
    for number, part in enumerate(split(text, limit, limit, 100)):
        send(door, account, part, f"c-{number}")
    contents = [sent.json()["text"]["content"] for sent in fake.calls(SEND)]
    assert all(len(content.encode()) <= 2_048 for content in contents)
    assert "".join(contents) == text


def test_a_text_that_would_be_cut_off_is_not_sent(door: WecomDoor, account: WecomAccount, fake: FakeWecom) -> None:
    with pytest.raises(ContentRefused, match="2049 bytes, WeCom shows 2048"):
        send(door, account, "x" * 2_049)
    assert fake.received == []


def test_half_a_character_is_sent_as_a_replacement(door: WecomDoor, account: WecomAccount, fake: FakeWecom) -> None:
    send(door, account, "a\ud83d")
    assert fake.calls(SEND)[0].json()["text"]["content"] == "a\ufffd"


# the token (field report 15)


@pytest.mark.parametrize("code", [42001, 40014, 40001])
def test_a_refused_token_is_renewed_once_and_the_text_is_sent_again(
    door: WecomDoor, account: WecomAccount, fake: FakeWecom, code: int
) -> None:
    fake.answers[SEND] = [refusal(code), {**OK, "msgid": "m-2"}]
    assert send(door, account) == "m-2"
    assert fake.tokens_used(SEND) == ["t1", "t2"]
    first, second = fake.calls(SEND)
    assert first.body == second.body


@pytest.mark.parametrize(("code", "error"), [(42001, PlatformUnavailable), (40014, PlatformUnavailable),
                                             (40001, CredentialRefused)])  # fmt: skip
def test_a_token_that_is_always_refused_is_renewed_once_a_call_and_no_more(
    door: WecomDoor, account: WecomAccount, fake: FakeWecom, code: int, error: type[BridgeError]
) -> None:
    fake.answers[SEND] = [refusal(code)]
    with pytest.raises(error, match=str(code)):
        send(door, account)
    assert fake.tokens_used(SEND) == ["t1", "t2"]
    with pytest.raises(PlatformUnavailable, match="a moment ago"):
        send(door, account)
    assert len(fake.calls("gettoken")) == 2  # WeCom counts questions


def test_a_wrong_secret_is_not_tried_again_by_any_process(
    door: WecomDoor, account: WecomAccount, fake: FakeWecom, http: HttpClient, tokens: WecomTokens
) -> None:
    fake.answers["gettoken"] = [refusal(40001, "invalid credential")]
    for one in (door, door, WecomDoor(WecomApi(http, tokens))):
        with pytest.raises(CredentialRefused, match="Secret or the corp id is wrong"):
            send(one, account)
    assert len(fake.calls("gettoken")) == 1
    assert fake.calls(SEND) == []


# answers


@pytest.mark.parametrize("names", ["ann", ["ann"]])
@pytest.mark.parametrize("field", ["invaliduser", "unlicenseduser"])
def test_success_that_names_the_person_as_unreached_is_a_failure(
    door: WecomDoor, account: WecomAccount, fake: FakeWecom, field: str, names: Any
) -> None:
    fake.answers[SEND] = [{**OK, field: names, "msgid": "m-1"}]
    with pytest.raises(RecipientRefused, match=field):
        send(door, account)


def test_success_with_empty_lists_is_success(door: WecomDoor, account: WecomAccount, fake: FakeWecom) -> None:
    fake.answers[SEND] = [{**OK, "invaliduser": "", "invalidparty": "", "invalidtag": "", "unlicenseduser": ""}]
    assert send(door, account) is None


@pytest.mark.parametrize("to", ["@all", "@ALL", "ann|bob", "", "a b", "sys", "a,b"])
def test_nothing_is_ever_sent_to_more_than_one_person(
    door: WecomDoor, account: WecomAccount, fake: FakeWecom, to: str
) -> None:
    with pytest.raises(RecipientRefused):
        send(door, account, to=to)
    assert fake.received == []


def test_an_untrusted_address_is_held_and_named(door: WecomDoor, account: WecomAccount, fake: FakeWecom) -> None:
    fake.answers[SEND] = [refusal(60020, "not allow to access from your ip"), {**OK, "msgid": "m-9"}]
    with pytest.raises(AddressNotTrusted) as caught:
        send(door, account)
    assert caught.value.address == "192.0.2.7"
    assert send(door, account) == "m-9"


@pytest.mark.parametrize(
    "answer", [b"", b"<html>oops</html>", b"[]", b"{}", b'{"errcode": null}', b'{"errcode": "x"}', b'{"errcode": 0.5}',
               b'{"errcode": true}', b'{"msgid": "m"}', b"[" * 100_000],
)  # fmt: skip
def test_an_answer_that_is_none_of_wecoms_leaves_the_outcome_unknown(
    door: WecomDoor, account: WecomAccount, fake: FakeWecom, server: ScriptedServer, answer: bytes
) -> None:
    send(door, account)
    server.script = lambda exchange: exchange.answer(answer)
    with pytest.raises(PlatformUnavailable, match="without an errcode"):
        send(door, account)


@pytest.mark.parametrize("status", ["502 Bad Gateway", "404 Not Found", "302 Found", "429 Too Many Requests"])
def test_another_status_than_200_leaves_the_outcome_unknown(
    door: WecomDoor, account: WecomAccount, fake: FakeWecom, server: ScriptedServer, status: str
) -> None:
    send(door, account)
    server.script = lambda exchange: exchange.answer(b'{"errcode":0}', status)
    with pytest.raises(PlatformUnavailable, match=f"HTTP {status[:3]}"):
        send(door, account)


@pytest.mark.parametrize("script", [Exchange.hold, Exchange.cut], ids=["silence", "a cut"])
def test_silence_and_a_cut_leave_the_outcome_unknown(
    http: HttpClient, tokens: WecomTokens, account: WecomAccount, fake: FakeWecom, server: ScriptedServer, script: Any
) -> None:
    door = WecomDoor(WecomApi(http, tokens, call_seconds=0.3))
    send(door, account)
    server.script = script
    with pytest.raises(PlatformUnavailable, match="/cgi-bin/message/send: "):
        send(door, account)


@pytest.mark.parametrize("call", ["gettoken", SEND])
def test_no_secret_is_in_any_error_or_log_even_if_wecom_repeats_them(
    door: WecomDoor, account: WecomAccount, fake: FakeWecom, call: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secrets = [SECRET, TOKEN, AES_KEY, "t1-is-a-long-secret"]
    fake.answers["gettoken"] = [{**OK, "access_token": "t1-is-a-long-secret", "expires_in": 7200}]
    fake.answers[call] = [refusal(40013, f"you sent {' '.join(secrets)}")]
    with pytest.raises(CredentialRefused) as caught:
        send(door, account)
    told = f"{caught.value} {caught.value!r} {caplog.text}"
    assert not any(secret in told for secret in secrets[: 3 if call == "gettoken" else 4])
    assert "you sent ***" in told


def test_an_account_of_another_platform_is_not_sent_with(door: WecomDoor) -> None:
    with pytest.raises(NotConfigured, match="is no app of WeCom"):
        send(door, Account(token="x", account_id="bot@im.bot", base_url="http://127.0.0.1:9"))


def test_nobody_is_shown_that_an_answer_is_being_worked_on(
    door: WecomDoor, account: WecomAccount, fake: FakeWecom
) -> None:
    door.set_typing(account, "ann", is_typing=True)
    assert fake.received == []


def test_the_proxy_of_a_channel_is_its_only_way_out_whatever_the_environment_says(
    door: WecomDoor, account: WecomAccount, fake: FakeWecom, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "qyapi.invalid")
    proxied = account.model_copy(
        update={"proxy": f"http://me:pass-word@127.0.0.1:{server.port}", "base_url": "http://qyapi.invalid"}
    )
    received: list[Any] = []

    def as_proxy(exchange: Exchange) -> None:
        received.append(exchange.request)
        exchange.answer(json.dumps({**OK, "access_token": "t1", "msgid": "m-1"}).encode())

    server.script = as_proxy
    assert send(door, proxied) == "m-1"
    assert [one.path.partition("?")[0] for one in received] == [
        "http://qyapi.invalid/cgi-bin/gettoken",
        "http://qyapi.invalid/cgi-bin/message/send",
    ]
    assert all(one.headers["proxy-authorization"].startswith("Basic ") for one in received)


def test_a_proxy_that_is_away_is_told_without_its_password(door: WecomDoor, account: WecomAccount) -> None:
    with pytest.raises(PlatformUnavailable) as caught:
        send(door, account.model_copy(update={"proxy": "http://me:pass-word@127.0.0.1:9"}))
    assert "pass-word" not in f"{caught.value!r}"


def test_a_private_deployment_may_stand_below_a_path(
    door: WecomDoor, account: WecomAccount, server: ScriptedServer, fake: FakeWecom
) -> None:
    fake.answers["gettoken"] = [OK]
    own = account.model_copy(update={"base_url": f"{server.url}/qy/"})
    server.script = lambda exchange: exchange.answer_json({**OK, "access_token": "t1", "msgid": "m-1"})
    assert send(door, own) == "m-1"
    assert server.received[-1].path == "/qy/cgi-bin/message/send?access_token=t1"
