"""The whole way of a callback: what comes in, and what strangers are told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.channels.wecom.callbacks import sealed, text_message, xml
from tests.channels.wecom.test_crypto import VECTORS, A
from wechat_bridge.channels.wecom.callback import Signed, open_callback, open_echo
from wechat_bridge.channels.wecom.messages import message_id_of
from wechat_bridge.errors import CallbackForged, CallbackMalformed
from wechat_bridge.model.wecom import WecomAccount

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def published(account: WecomAccount) -> WecomAccount:
    """The app of the published vectors."""
    return account.model_copy(update={"corp_id": A["rid"], "callback_token": A["token"], "encoding_aes_key": A["key"]})


def opened(account: WecomAccount, query: Signed, body: bytes, freshness_seconds: float = 300.0) -> dict[str, Any]:
    return open_callback(account, query, body, NOW, freshness_seconds)


def test_the_published_url_check_is_answered_with_the_bare_text(published: WecomAccount) -> None:
    assert open_echo(published, Signed(A["sig"], A["ts"], A["nonce"]), A["enc"]) == b"1616140317555161061"


def test_an_echostr_whose_plus_came_as_a_space_is_forged(published: WecomAccount) -> None:
    assert "+" in A["enc"]
    with pytest.raises(CallbackForged):
        open_echo(published, Signed(A["sig"], A["ts"], A["nonce"]), A["enc"].replace("+", " "))


def test_the_published_message_is_read(published: WecomAccount) -> None:
    vector = VECTORS["B_message"]
    body = f"<xml><Encrypt><![CDATA[{vector['enc']}]]></Encrypt></xml>".encode()
    fields = opened(published, Signed(vector["sig"], vector["ts"], vector["nonce"]), body, freshness_seconds=0)
    assert (fields["FromUserName"], fields["Content"], fields["MsgId"]) == ("mycreate", "hello", "4561255354251345929")


def test_three_deliveries_of_a_message_have_one_key_however_they_are_sealed(account: WecomAccount) -> None:
    plain = xml(text_message(account, NOW, MsgId=9001))
    attempts = [sealed(account, plain, NOW + timedelta(seconds=5 * n), f"nonce-{n}") for n in range(3)]
    assert len({body for _, body in attempts}) == 3
    assert {message_id_of(opened(account, *attempt)) for attempt in attempts} == {"ann:9001"}


@pytest.mark.parametrize("age_seconds", [-86_400, -301, 301])
def test_a_callback_of_another_time_is_forged(account: WecomAccount, age_seconds: float) -> None:
    query, body = sealed(account, xml(text_message(account, NOW)), NOW + timedelta(seconds=age_seconds))
    with pytest.raises(CallbackForged, match="more than 300 s old"):
        opened(account, query, body)
    assert opened(account, query, body, freshness_seconds=0)["Content"] == "hello"


@pytest.mark.parametrize("timestamp", ["", "soon", "１", "-1", "9" * 400])
def test_a_timestamp_that_is_none_is_forged(account: WecomAccount, timestamp: str) -> None:
    query, body = sealed(account, xml(text_message(account, NOW)), NOW)
    with pytest.raises(CallbackForged):
        opened(account, Signed(query.signature, timestamp, query.nonce), body)


@pytest.mark.parametrize("age_seconds", [-299, 0, 299])
def test_a_clock_that_is_a_little_off_does_no_harm(account: WecomAccount, age_seconds: float) -> None:
    query, body = sealed(account, xml(text_message(account, NOW)), NOW + timedelta(seconds=age_seconds))
    assert opened(account, query, body)["Content"] == "hello"


@pytest.mark.parametrize(
    ("change", "said"), [({"AgentID": 219}, "another AgentID"), ({"ToUserName": "wwother"}, "another corp id")]
)
def test_a_message_for_somebody_else_is_forged(account: WecomAccount, change: dict[str, Any], said: str) -> None:
    query, body = sealed(account, xml(text_message(account, NOW, **change)), NOW)
    with pytest.raises(CallbackForged, match=said):
        opened(account, query, body)


def test_an_event_about_the_corp_names_no_app_and_is_read(account: WecomAccount) -> None:
    event = {"ToUserName": account.corp_id, "MsgType": "event", "Event": "change_contact"}
    assert opened(account, *sealed(account, xml(event), NOW))["Event"] == "change_contact"


def test_a_bomb_in_a_rightly_sealed_message_is_malformed(account: WecomAccount) -> None:
    with pytest.raises(CallbackMalformed):
        opened(account, *sealed(account, "<!DOCTYPE x [<!ENTITY e 'x'>]><xml><Content>&e;</Content></xml>", NOW))


def test_the_signature_is_checked_before_anything_is_decrypted_or_parsed(account: WecomAccount) -> None:
    query, body = sealed(account, "no xml at all", NOW)
    with pytest.raises(CallbackForged, match="signature"):
        opened(account, Signed("0" * 40, query.timestamp, query.nonce), body)


def test_no_secret_is_in_what_is_said_of_an_account(account: WecomAccount) -> None:
    assert not any(secret in f"{account!r} {account}" for secret in account.secrets)
