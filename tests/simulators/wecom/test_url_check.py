"""The console's URL check: exact bytes, within its time, no redirect."""

from __future__ import annotations

import pytest

from wechat_bridge.simulators.wecom import WecomControl

from .receiver import Receiver, Reply


def test_the_decrypted_bytes_pass_and_the_url_is_taken_over(control: WecomControl, receiver: Receiver) -> None:
    assert receiver.credentials is not None
    app = receiver.credentials["app"]
    control.set_app(app, callback_url="")
    receiver.reply = Reply(b"ECHO", url_check=True)
    checked = control.set_callback(app, receiver.url)
    assert (checked["ok"], checked["status"], checked["why"], checked["console"]) == (True, 200, "", "")
    assert control.apps()[-1]["callback_url"] == receiver.url
    [received] = receiver.wait(1)
    assert (received.method, received.query["fixed"]) == ("GET", "1")
    assert set(received.query) == {"fixed", "msg_signature", "timestamp", "nonce", "echostr"}


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(b'"ECHO"', url_check=True), "around it"),
        (Reply(b"ECHO\n", url_check=True), "around it"),
        (Reply(b"\xef\xbb\xbfECHO", url_check=True), "around it"),
        (Reply(b"<html>app</html>"), "not the decrypted message"),
        (Reply(b"ECHO", status=301, url_check=True, headers=(("Location", "/"),)), "HTTP 301"),
        (Reply(b"ECHO", url_check=True, delay_seconds=5), "within 1 s"),
        (Reply(cut=True), "no answer"),
    ],
)
def test_anything_else_fails_with_the_consoles_words_and_leaves_the_old_url(
    control: WecomControl, receiver: Receiver, app: str, reply: Reply, says: str
) -> None:
    receiver.reply = reply
    checked = control.set_callback(app, f"{receiver.url}&other=1")
    assert checked["ok"] is False
    assert says in checked["why"]
    assert checked["console"] == "openapi回调地址请求不通过"
    assert control.apps()[-1]["callback_url"] == receiver.url


def test_signature_and_echostr_are_those_of_the_app(control: WecomControl, receiver: Receiver, app: str) -> None:
    receiver.reply = Reply(b"ECHO", url_check=True)
    assert control.check_url(app)["ok"] is True
    query = receiver.received[0].query
    assert receiver.crypto.signature(query["timestamp"], query["nonce"], query["echostr"]) == query["msg_signature"]


def test_an_address_nobody_listens_on_fails(control: WecomControl, app: str) -> None:
    assert "no answer" in control.check_url(app, "http://127.0.0.1:9/wecom")["why"]
