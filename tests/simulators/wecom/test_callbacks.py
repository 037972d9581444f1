"""Callbacks as a bridge meets them: three deliveries, everything fresh in each, and everything that may go wrong."""

from __future__ import annotations

import base64
import time
from typing import Any
from xml.etree import ElementTree

import pytest

from wechat_bridge.simulators.wecom import WecomControl
from wechat_bridge.simulators.wecom.crypto import CallbackCryptoError

from .conftest import USER
from .receiver import Received, Receiver, Reply


def outcomes(control: WecomControl, app: str, count: int = 1) -> list[list[str]]:
    """What became of the attempts of each callback."""
    return [[attempt["outcome"] for attempt in row["attempts"]] for row in control.callbacks(app, count=count)]


def field(document: str, name: str) -> str:
    return ElementTree.fromstring(document).findtext(name) or ""


def test_a_text_arrives_signed_encrypted_and_complete(control: WecomControl, receiver: Receiver, app: str) -> None:
    [msg_id] = control.say(app, USER, "你好😀 ]]> <b>")
    [document] = receiver.documents(1)
    assert [field(document, name) for name in ("FromUserName", "MsgType", "Content", "MsgId")] == [
        USER,
        "text",
        "你好😀 ]]> <b>",
        msg_id,
    ]
    assert receiver.credentials is not None
    assert field(document, "ToUserName") == receiver.credentials["corp_id"]
    assert field(document, "AgentID") == receiver.credentials["agent_id"]
    assert abs(int(field(document, "CreateTime")) - time.time()) < 5
    assert int(msg_id) > 2**53
    assert receiver.received[0].query["fixed"] == "1"
    assert outcomes(control, app) == [["accepted"]]


@pytest.mark.parametrize("body", [b"", b"success"])
def test_an_empty_answer_and_success_end_the_deliveries(
    control: WecomControl, receiver: Receiver, app: str, body: bytes
) -> None:
    receiver.reply = Reply(body)
    control.say(app, USER, "hi")
    [row] = control.callbacks(app, count=1)
    assert (row["state"], len(row["attempts"]), control.deliveries(USER)) == ("accepted", 1, [])


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(status=500), "HTTP 500"),
        (Reply(status=302, headers=(("Location", "/elsewhere"),)), "HTTP 302"),
        (Reply(b'"success"'), "neither empty"),
        (Reply(b"<html></html>"), "MsgSignature"),
        (Reply(cut=True), "no answer"),
    ],
)
def test_anything_else_is_delivered_three_times_in_total_and_given_up(
    control: WecomControl, receiver: Receiver, app: str, reply: Reply, says: str
) -> None:
    receiver.reply = reply
    control.say(app, USER, "hi")
    [row] = control.callbacks(app, count=1)
    assert row["state"] == "given_up"
    assert [says in attempt["outcome"] for attempt in row["attempts"]] == [True] * 3
    assert [attempt["status"] for attempt in row["attempts"]] == [0 if reply.cut else reply.status] * 3
    assert len(receiver.received) == 3


def test_who_does_not_answer_in_time_gets_the_same_message_again_in_new_bytes(
    control: WecomControl, receiver: Receiver, app: str
) -> None:
    control.set_options(callback_timeout_seconds=0.5)
    receiver.replies.append(Reply(delay_seconds=5))
    control.say(app, USER, "hi")
    assert outcomes(control, app) == [["no answer within 0.5 s", "accepted"]]
    first, second = receiver.documents(2)
    assert first == second
    assert receiver.received[0].body != receiver.received[1].body
    assert receiver.received[0].query["nonce"] != receiver.received[1].query["nonce"]
    assert receiver.received[1].at - receiver.received[0].at >= 0.4


def test_attempts_are_identical_when_so_wished(control: WecomControl, receiver: Receiver, app: str) -> None:
    receiver.replies.append(Reply(status=500))
    control.say(app, USER, "hi", identical=True)
    first, second = receiver.wait(2)
    assert (first.query, first.body) == (second.query, second.body)


def test_an_http_error_ends_the_deliveries_where_only_silence_is_repeated(
    control: WecomControl, receiver: Receiver, app: str
) -> None:
    control.set_options(callback_retry_on="no_answer")
    receiver.replies.extend([Reply(status=500), Reply(cut=True)])
    control.say(app, USER, "one", "two")
    assert [len(attempts) for attempts in outcomes(control, app, 2)] == [1, 2]


def test_lost_attempts_come_back_unless_all_are_lost(control: WecomControl, receiver: Receiver, app: str) -> None:
    control.say(app, USER, "late", drop=2)
    control.say(app, USER, "never", drop=3)
    assert outcomes(control, app, 2) == [["lost on the way"] * 2 + ["accepted"], ["lost on the way"] * 3]
    assert [field(document, "Content") for document in receiver.documents(1)] == ["late"]


def test_duplicates_follow_or_come_in_the_same_moment(control: WecomControl, receiver: Receiver, app: str) -> None:
    receiver.reply = Reply(delay_seconds=0.5)
    control.say(app, USER, "hi", duplicates=1)
    control.callbacks(app, count=1)
    receiver.reply = Reply(delay_seconds=3)
    control.say(app, USER, "hi", duplicates=1, at_once=True)
    first, second, third, fourth = [received.at for received in receiver.wait(4)]
    assert second - first >= 0.5
    assert fourth - third < 3
    assert len({field(document, "MsgId") for document in receiver.documents(4)}) == 2


@pytest.mark.parametrize(("order", "contents"), [("in_turn", ["1", "2", "3"]), ("reversed", ["3", "2", "1"])])
def test_messages_leave_in_the_order_wished(
    control: WecomControl, receiver: Receiver, app: str, order: str, contents: list[str]
) -> None:
    sent = control.write(app, USER, [{"Content": text} for text in "123"], order=order)
    documents = receiver.documents(3)
    assert [field(document, "Content") for document in documents] == contents
    ids = {field(document, "Content"): field(document, "MsgId") for document in documents}
    assert [row["msg_id"] for row in sent] == [ids[text] for text in "123"]


def test_messages_at_once_do_not_wait_for_each_other(control: WecomControl, receiver: Receiver, app: str) -> None:
    receiver.reply = Reply(delay_seconds=3)
    control.write(app, USER, [{"Content": str(number)} for number in range(5)], order="at_once")
    times = [received.at for received in receiver.wait(5)]
    assert max(times) - min(times) < 3


def test_messages_leave_at_a_steady_rate_whatever_became_of_those_before(
    control: WecomControl, receiver: Receiver, app: str
) -> None:
    receiver.reply = Reply(delay_seconds=2)
    control.write(app, USER, [{"Content": text} for text in "123"], order="at_once", spacing_seconds=0.2)
    first, second, third = receiver.wait(3)
    assert second.at > first.at
    assert 0.2 <= third.at - first.at < 2
    assert [field(document, "Content") for document in receiver.documents(3)] == ["1", "2", "3"]


@pytest.mark.parametrize("pad", [1, 31, 32])
def test_the_padding_can_be_chosen(control: WecomControl, receiver: Receiver, app: str, pad: int) -> None:
    control.say(app, USER, "hi", pad=pad)
    [document] = receiver.documents(1)
    assert -(16 + 4 + len(document.encode()) + len(receiver.crypto.receive_id)) % 32 == pad % 32
    assert field(document, "Content") == "hi"


def test_a_forged_signature_does_not_fit(control: WecomControl, receiver: Receiver, app: str) -> None:
    receiver.reply = Reply(status=403)
    control.say(app, USER, "hi", wrong_signature=True)
    [received, *_] = receiver.wait(1)
    with pytest.raises(AssertionError):
        receiver.document(received)


def test_another_receiver_stands_behind_the_message(control: WecomControl, receiver: Receiver, app: str) -> None:
    control.say(app, USER, "hi", receive_id="wwANOTHER")
    [received, *_] = receiver.wait(1)
    with pytest.raises(CallbackCryptoError, match="receiveid"):
        receiver.document(received)


def test_a_stale_timestamp_is_signed_all_the_same(control: WecomControl, receiver: Receiver, app: str) -> None:
    control.say(app, USER, "hi", age_seconds=3_600)
    [document] = receiver.documents(1)
    assert time.time() - int(receiver.received[0].query["timestamp"]) > 3_590
    assert field(document, "Content") == "hi"


def test_events_have_no_msgid_and_two_may_share_a_second(control: WecomControl, receiver: Receiver, app: str) -> None:
    clicks = [{"MsgType": "event", "Event": "click", "EventKey": key, "CreateTime": 1408091189} for key in "AB"]
    control.write(app, USER, clicks)
    control.callbacks(app, count=2)
    control.event(app, USER, "never_heard_of", {"Odd": {"Nested": "1"}})
    first, second, third = receiver.documents(3)
    assert "MsgId" not in first
    assert [field(one, "CreateTime") for one in (first, second)] == ["1408091189"] * 2
    assert [field(one, "EventKey") for one in (first, second)] == ["A", "B"]
    assert field(third, "Odd/Nested") == "1"


def test_any_field_can_be_set_or_left_out(control: WecomControl, receiver: Receiver, app: str) -> None:
    control.write(app, USER, [{"MsgType": "hologram", "MsgId": "18446744073709551615"}], omit=["CreateTime", "AgentID"])
    [document] = receiver.documents(1)
    assert (field(document, "MsgType"), field(document, "MsgId")) == ("hologram", "18446744073709551615")
    assert "CreateTime" not in document
    assert "AgentID" not in document


@pytest.mark.parametrize(
    ("envelope", "holds"),
    [
        ("dtd", lambda one: one.body.count(b"<!ENTITY") == 8),
        ("oversized", lambda one: len(one.body) > 2 * 1024 * 1024),
        ("not_xml", lambda one: one.body.startswith(b"{")),
        ("no_encrypt", lambda one: b"Encrypt" not in one.body),
        ("two_encrypts", lambda one: one.body.count(b"<Encrypt>") == 2),
        ("empty", lambda one: one.body == b""),
    ],
)
def test_the_envelope_can_be_an_attack(
    control: WecomControl, receiver: Receiver, app: str, envelope: str, holds: Any
) -> None:
    control.say(app, USER, "hi", envelope=envelope)
    [received] = receiver.wait(1)
    assert isinstance(received, Received)
    assert holds(received)


def test_the_decrypted_document_can_be_an_entity_bomb(control: WecomControl, receiver: Receiver, app: str) -> None:
    control.say(app, USER, "hi", inner_dtd=True)
    [document] = receiver.documents(1)
    assert document.startswith("<?xml")
    assert "<Bomb>&h;</Bomb>" in document


def test_a_message_is_sent_again_by_its_callback_id(control: WecomControl, receiver: Receiver, app: str) -> None:
    [sent] = control.write(app, USER, [{"Content": "hi"}])
    control.repeat(sent["callback_id"])
    assert len(set(receiver.documents(2))) == 1


def test_a_picture_of_a_member_can_be_fetched_by_its_url_and_by_its_id(
    control: WecomControl, receiver: Receiver, app: str
) -> None:
    fields = control.put_media(app, "image", b"\xff\xd8\xff picture", "a.jpg")
    control.write(app, USER, [fields])
    [document] = receiver.documents(1)
    assert control.get_media(app, field(document, "MediaId")) == b"\xff\xd8\xff picture"
    assert field(document, "PicUrl").startswith(f"{control.base_url}/pic/")


def test_a_callback_can_be_late_and_its_repeat_later_still(control: WecomControl, receiver: Receiver, app: str) -> None:
    control.set_options(callback_pause_seconds=0.3)
    receiver.replies.append(Reply(status=500))
    asked = time.monotonic()
    control.say(app, USER, "hi", delay_seconds=0.3)
    first, second = receiver.wait(2)
    assert first.at - asked >= 0.3
    assert second.at - first.at >= 0.3


@pytest.mark.parametrize(("keep_alive", "says"), [(False, "close"), (True, None)])
def test_connections_are_closed_after_a_callback_unless_they_are_to_be_kept(
    control: WecomControl, receiver: Receiver, app: str, keep_alive: bool, says: str | None
) -> None:
    control.set_options(callback_keep_alive=keep_alive)
    control.say(app, USER, "hi")
    [received] = receiver.wait(1)
    assert received.headers.get("Connection") == says
    assert received.headers["Content-Type"].startswith("text/xml")


def test_an_app_without_url_is_told_nothing(control: WecomControl) -> None:
    app = control.create_app()["app"]
    control.say(app, USER, "hi")
    [row] = control.callbacks(app, count=1)
    assert (row["state"], row["attempts"]) == ("no_url", [])


def test_the_body_of_a_callback_names_corp_and_agent_outside_too(
    control: WecomControl, receiver: Receiver, app: str
) -> None:
    control.say(app, USER, "hi")
    [received] = receiver.wait(1)
    outer = ElementTree.fromstring(received.body.decode())
    assert f"{outer.findtext('ToUserName')}:{outer.findtext('AgentID')}" == app
    assert base64.b64decode(outer.findtext("Encrypt") or "")
