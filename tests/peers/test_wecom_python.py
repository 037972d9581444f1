"""wechatpy against the simulator: its token, its sends, its media, its crypto, its reading of callbacks."""

from __future__ import annotations

import io
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import requests

from wechat_bridge.simulators.wecom import AppCredentials, WecomControl
from wechat_bridge.simulators.wecom.callback import Callback, Knobs
from wechat_bridge.simulators.wecom.crypto import CallbackCrypto
from wechat_bridge.simulators.wecom.envelope import new_freshness, signed_query
from wechat_bridge.simulators.wecom.xml import to_xml

USER = "ZhangSan"
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


@pytest.fixture
def client(console: AppCredentials, peer_module: Callable[[str], ModuleType]) -> Any:
    """wechatpy's client of one console, led to the simulator instead of the one address it knows."""
    enterprise = peer_module("wechatpy.enterprise")
    address = f"{console['api_base_url']}/cgi-bin/"

    class Client(enterprise.WeChatClient):  # type: ignore[name-defined, misc]
        API_BASE_URL = address

        def fetch_access_token(self) -> Any:
            parameters = {"corpid": self.corp_id, "corpsecret": self.secret}
            return self._fetch_access_token(url=f"{address}gettoken", params=parameters)

    return Client(console["corp_id"], console["secret"])


def test_wechatpy_gets_a_token_once_and_sends_texts(wecom: WecomControl, console: AppCredentials, client: Any) -> None:
    sent = client.message.send_text(console["agent_id"], USER, "你好😀")
    client.message.send_text(console["agent_id"], USER, "again")
    assert sent["errcode"] == 0
    assert [shown["text"] for shown in wecom.deliveries(USER)] == ["你好😀", "again"]
    assert wecom.stats()["calls"] == {"gettoken 0": 1, "message/send 0": 2}


def test_wechatpy_takes_a_new_token_when_its_old_one_is_refused(
    wecom: WecomControl, console: AppCredentials, client: Any
) -> None:
    client.message.send_text(console["agent_id"], USER, "one")
    wecom.expire_token(console["app"], 42001)
    client.message.send_text(console["agent_id"], USER, "two")
    assert [shown["text"] for shown in wecom.deliveries(USER)] == ["one", "two"]


def test_wechatpy_uploads_sends_and_downloads_a_picture(
    wecom: WecomControl, console: AppCredentials, client: Any
) -> None:
    media_id = client.media.upload("image", io.BytesIO(PICTURE))["media_id"]
    client.message.send_image(console["agent_id"], USER, media_id)
    # Its own download() knows only the platform's address, which stands in the URL it builds.
    url = client.media.get_url(media_id).replace("https://qyapi.weixin.qq.com", console["api_base_url"])
    assert requests.get(url, timeout=10).content == PICTURE
    [shown] = wecom.deliveries(USER)
    assert (shown["msgtype"], shown["content"]["media_id"]) == ("image", media_id)


def test_wechatpy_reports_a_refusal_by_its_code(
    wecom: WecomControl, console: AppCredentials, client: Any, peer_module: Callable[[str], ModuleType]
) -> None:
    wecom.set_app(console["app"], visible_users=[])
    with pytest.raises(peer_module("wechatpy.exceptions").WeChatClientException) as caught:
        client.message.send_text(console["agent_id"], USER, "hi")
    assert caught.value.errcode == 81013


def test_wechatpy_decrypts_and_parses_a_callback_and_answers_its_url_check(
    console: AppCredentials, peer_module: Callable[[str], ModuleType]
) -> None:
    theirs = peer_module("wechatpy.enterprise.crypto").WeChatCrypto(
        console["token"], console["encoding_aes_key"], console["corp_id"]
    )
    ours, fresh = CallbackCrypto(console["token"], console["encoding_aes_key"], console["corp_id"]), new_freshness()
    said = {"FromUserName": USER, "MsgType": "text", "Content": "你好 ]]>", "MsgId": 7}
    fields = {"ToUserName": console["corp_id"]} | said
    encrypted = ours.encrypt(to_xml(Callback(console["app"], fields, Knobs()).fields).encode())
    query = signed_query(ours, fresh, encrypted)
    body = to_xml({"ToUserName": console["corp_id"], "AgentID": console["agent_id"], "Encrypt": encrypted})
    plain = theirs.decrypt_message(body, query["msg_signature"], query["timestamp"], query["nonce"])
    message = peer_module("wechatpy.enterprise").parse_message(plain)
    assert (message.source, message.content, message.id) == (USER, "你好 ]]>", 7)
    echostr = ours.encrypt(b"1616140317555161061")
    query = signed_query(ours, fresh, echostr)
    echo = theirs.check_signature(query["msg_signature"], query["timestamp"], query["nonce"], echostr)
    assert echo == "1616140317555161061"
