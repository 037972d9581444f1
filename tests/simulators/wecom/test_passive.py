"""Passive replies: a person sees those that are signed, encrypted and addressed rightly, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from wechat_bridge.simulators.wecom import WecomControl
from wechat_bridge.simulators.wecom.crypto import CallbackCrypto
from wechat_bridge.simulators.wecom.xml import to_xml

from .conftest import USER
from .receiver import Receiver, Reply


def passive(crypto: CallbackCrypto, signature: str = "", **changed: Any) -> bytes:
    """An encrypted reply of a text."""
    fields = {
        "ToUserName": USER,
        "FromUserName": crypto.receive_id,
        "CreateTime": 1,
        "MsgType": "text",
        "Content": "right away",
        **changed,
    }
    encrypted = crypto.encrypt(to_xml(fields).encode())
    signed = signature or crypto.signature("1409659813", "1372623149", encrypted)
    envelope = {"Encrypt": encrypted, "MsgSignature": signed, "TimeStamp": 1409659813, "Nonce": "1372623149"}
    return to_xml(envelope).encode()


def test_a_passive_reply_is_an_acceptance_and_the_member_sees_it(
    control: WecomControl, receiver: Receiver, app: str
) -> None:
    receiver.reply = Reply(passive(receiver.crypto))
    control.say(app, USER, "hi")
    [row] = control.callbacks(app, count=1)
    assert (row["state"], len(row["attempts"])) == ("accepted", 1)
    [shown] = control.deliveries(USER)
    assert (shown["text"], shown["source"], shown["app"]) == ("right away", "passive", app)


def test_a_passive_text_that_says_success_is_a_message(control: WecomControl, receiver: Receiver, app: str) -> None:
    receiver.reply = Reply(passive(receiver.crypto, Content="success"))
    control.say(app, USER, "hi")
    [shown] = control.deliveries(USER, count=1)
    assert shown["text"] == "success"


def test_a_passive_text_is_cut_at_2048_bytes(control: WecomControl, receiver: Receiver, app: str) -> None:
    receiver.reply = Reply(passive(receiver.crypto, Content="好" * 1_000))
    control.say(app, USER, "hi")
    [shown] = control.deliveries(USER, count=1)
    assert shown["text"] == "好" * 682


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"signature": "0" * 40}, "MsgSignature"),
        ({"ToUserName": "somebody"}, "swapped"),
        ({"MsgType": "hologram"}, "hologram"),
        ({"Content": ""}, "no Content"),
        ({"MsgType": "news", "ArticleCount": 9, "Articles": {"item": {"Title": "a"}}}, "articles"),
    ],
)
def test_a_wrong_passive_reply_is_no_acceptance_and_nobody_sees_it(
    control: WecomControl, receiver: Receiver, app: str, changed: dict[str, Any], says: str
) -> None:
    receiver.reply = Reply(passive(receiver.crypto, **changed))
    control.say(app, USER, "hi")
    [row] = control.callbacks(app, count=1)
    assert [says in attempt["outcome"] for attempt in row["attempts"]] == [True] * 3
    assert control.deliveries(USER) == []


def test_a_reply_encrypted_for_another_corp_is_seen_by_nobody(
    control: WecomControl, receiver: Receiver, app: str
) -> None:
    own = receiver.crypto
    receiver.reply = Reply(passive(CallbackCrypto(own.token, own.encoding_aes_key, "wwANOTHER")))
    control.say(app, USER, "hi")
    [row] = control.callbacks(app, count=1)
    assert "receiveid" in row["attempts"][0]["outcome"]
    assert control.deliveries(USER) == []
