"""The doors against the simulated WeCom: what people really see, and what really comes in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.channels.scripted_server import Exchange, ScriptedServer
from tests.support.pictures import png
from tests.support.together import together
from tests.support.wecom_world import secrets_of, settings_of
from wechat_bridge.channels.base import OutboundFile
from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.wecom.api import WecomApi
from wechat_bridge.channels.wecom.callback import Signed, open_callback, open_echo
from wechat_bridge.channels.wecom.door import WecomDoor
from wechat_bridge.channels.wecom.media import WecomMedia
from wechat_bridge.channels.wecom.messages import Callback, read_callback
from wechat_bridge.channels.wecom.sending import MOST_TEXT_BYTES
from wechat_bridge.errors import (
    AddressNotTrusted,
    CallbackRefused,
    CredentialRefused,
    MediaUnreadable,
    PlatformUnavailable,
    RecipientRefused,
)
from wechat_bridge.model.chunks import split
from wechat_bridge.model.message import InboxState, ItemKind
from wechat_bridge.model.wecom import WecomAccount, WecomSettings, account_of
from wechat_bridge.simulators.wecom import AppCredentials, WecomControl
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.wecom_media_ids import WecomMediaIds
from wechat_bridge.store.wecom_tokens import WecomTokens

USER = "ZhangSan"


@pytest.fixture
def member(console: AppCredentials) -> WecomAccount:
    """The app as its doors need it."""
    return account_of(settings_of(console), secrets_of(console))


@pytest.fixture
def sender(http: HttpClient, redis_client: RedisClient) -> WecomDoor:
    """A door that gives up on an answer after half a second."""
    return WecomDoor(WecomApi(http, WecomTokens(redis_client), call_seconds=0.5))


@pytest.fixture
def files(http: HttpClient, redis_client: RedisClient) -> WecomMedia:
    """The media door."""
    return WecomMedia(WecomApi(http, WecomTokens(redis_client)), WecomMediaIds(redis_client), most_bytes=1_000_000)


def seen(wecom: WecomControl) -> list[str]:
    return [str(shown["text"]) for shown in wecom.deliveries(USER)]


# out


@pytest.mark.parametrize("text", ["中文字。" * 1_250, "x" * 2_047 + "中", "中" * 700 + "👍"])
def test_a_long_answer_is_seen_whole_and_in_order(
    wecom: WecomControl, sender: WecomDoor, member: WecomAccount, text: str
) -> None:
    for number, part in enumerate(split(text, 2_048, MOST_TEXT_BYTES, 20)):
        sender.send_text(member, USER, part, f"c-{number}", "")
    assert "".join(seen(wecom)) == text


def test_an_answer_that_got_lost_is_sent_again_and_seen_once(
    wecom: WecomControl, sender: WecomDoor, member: WecomAccount
) -> None:
    wecom.script("message/send", hang=True, process=True)
    with pytest.raises(PlatformUnavailable):
        sender.send_text(member, USER, "好的", "c-1", "")
    sender.send_text(member, USER, "好的", "c-1", "")
    assert seen(wecom) == ["好的"]


def test_two_equal_replies_of_two_turns_are_both_seen(
    wecom: WecomControl, sender: WecomDoor, member: WecomAccount
) -> None:
    sender.send_text(member, USER, "好的", "c-1", "")
    sender.send_text(member, USER, "好的", "c-2", "")
    assert seen(wecom) == ["好的", "好的"]


@pytest.mark.parametrize("renewal", ["same", "rotate"])
@pytest.mark.parametrize("code", [40014, 42001])
def test_twenty_sends_with_an_expired_token_renew_it_once(
    wecom: WecomControl, sender: WecomDoor, member: WecomAccount, console: AppCredentials, code: int, renewal: str
) -> None:
    wecom.set_options(token_renewal=renewal)
    sender.send_text(member, USER, "first", "c-0", "")
    wecom.expire_token(console["app"], code)
    together(20, lambda number: sender.send_text(member, USER, f"text {number}", f"c-{number}", ""))
    assert sorted(seen(wecom)) == sorted(["first", *(f"text {number}" for number in range(20))])
    assert len(wecom.calls("gettoken")) == 2


def test_a_wrong_secret_never_gets_the_address_banned(
    wecom: WecomControl, sender: WecomDoor, console: AppCredentials, member: WecomAccount
) -> None:
    wrong = account_of(settings_of(console), secrets_of(console).model_copy(update={"secret": "wrong"}))
    for number in range(20):
        with pytest.raises(CredentialRefused):
            sender.send_text(wrong, USER, "hi", f"c-{number}", "")
    assert len(wecom.calls("gettoken")) == 1
    sender.send_text(member, USER, "with the right one", "c-99", "")
    assert seen(wecom) == ["with the right one"]


def test_an_untrusted_address_is_named_and_works_once_it_is_trusted(
    wecom: WecomControl, sender: WecomDoor, console: AppCredentials, member: WecomAccount
) -> None:
    wecom.set_app(console["app"], trusted_ips=["203.0.113.1"])
    with pytest.raises(AddressNotTrusted) as caught:
        sender.send_text(member, USER, "hi", "c-1", "")
    assert caught.value.address == "127.0.0.1"
    wecom.set_app(console["app"], trusted_ips=["127.0.0.1"])
    wecom.advance_clock(120)
    sender.send_text(member, USER, "hi", "c-1", "")
    assert seen(wecom) == ["hi"]


def test_who_is_outside_the_visible_range_is_refused_alone(
    wecom: WecomControl, sender: WecomDoor, console: AppCredentials, member: WecomAccount
) -> None:
    wecom.set_app(console["app"], visible_users=[USER])
    with pytest.raises(RecipientRefused, match="81013"):
        sender.send_text(member, "LiSi", "hi", "c-1", "")
    sender.send_text(member, USER, "hi", "c-2", "")
    assert seen(wecom) == ["hi"]


def test_a_picture_is_seen_as_it_is_also_after_three_days(
    wecom: WecomControl, files: WecomMedia, console: AppCredentials, member: WecomAccount
) -> None:
    picture = OutboundFile(ItemKind.IMAGE, "图.png", "image/png", png(50_000))
    files.send(member, USER, files.upload(member, USER, picture, 10.0), "c-1", "")
    wecom.advance_clock(3 * 86_400 + 60)
    with pytest.raises(PlatformUnavailable):  # its id is not good any more, and the next try has another
        files.send(member, USER, files.upload(member, USER, picture, 10.0), "c-2", "")
    files.send(member, USER, files.upload(member, USER, picture, 10.0), "c-2", "")
    shown = wecom.deliveries(USER)
    assert len(shown) == 2
    assert wecom.get_media(console["app"], shown[1]["content"]["media_id"]) == picture.data


# in


class Receiving:
    """A callback URL that does what the wire part of the bridge does, and keeps what it read."""

    def __init__(self, account: WecomAccount, settings: WecomSettings) -> None:
        self.account, self.settings = account, settings
        self.read: list[Callback] = []
        self.refused: list[CallbackRefused] = []

    def script(self, exchange: Exchange) -> None:
        given = {name: values[0] for name, values in parse_qs(urlsplit(exchange.request.path).query).items()}
        query = Signed(given["msg_signature"], given["timestamp"], given["nonce"])
        try:
            exchange.answer(self._answer(exchange, query, given.get("echostr", "")), "200 OK", "Connection: close")
        except CallbackRefused as error:
            self.refused.append(error)
            exchange.answer(b"", f"{error.status} Refused", "Connection: close")

    def _answer(self, exchange: Exchange, query: Signed, echostr: str) -> bytes:
        if exchange.request.method == "GET":
            return open_echo(self.account, query, echostr)
        fields = open_callback(self.account, query, exchange.request.body, datetime.now(UTC), 300.0)
        self.read.append(read_callback(fields, self.settings))
        return b""


@pytest.fixture
def receiving(wecom: WecomControl, console: AppCredentials, member: WecomAccount, server: ScriptedServer) -> Receiving:
    """The callback URL of the app."""
    receiving = Receiving(member, settings_of(console, welcome_text="欢迎", clicks={"HOURS": "几点开门？"}))
    server.script = receiving.script
    checked = wecom.set_callback(console["app"], f"{server.url}/wecom/shop")
    assert checked["ok"], checked
    return receiving


def test_the_url_check_passes_and_texts_come_in_as_they_were_typed(
    wecom: WecomControl, console: AppCredentials, receiving: Receiving
) -> None:
    texts = ["你好😀", "a]]>b", "<MsgId>1</MsgId>", "&amp; <b>", "  two\nlines  "]
    wecom.say(console["app"], USER, *texts)
    wecom.callbacks(console["app"], count=len(texts))
    messages = [callback.message for callback in receiving.read]
    assert sorted(message.items[0].text for message in messages) == sorted(texts)
    assert {message.user_id for message in messages} == {USER}
    assert {message.state for message in messages} == {InboxState.PENDING}


def test_repeats_have_one_key_and_two_messages_have_two(
    wecom: WecomControl, console: AppCredentials, receiving: Receiving
) -> None:
    wecom.say(console["app"], USER, "hi", duplicates=2)
    wecom.say(console["app"], USER, "hi")
    wecom.callbacks(console["app"], count=2)
    keys = [callback.message.message_id for callback in receiving.read]
    assert len(keys) == 4
    assert len(set(keys)) == 2


@pytest.mark.parametrize("pad", [1, 16, 17, 32])
def test_every_pad_is_read(wecom: WecomControl, console: AppCredentials, receiving: Receiving, pad: int) -> None:
    wecom.say(console["app"], USER, "hi", pad=pad)
    wecom.callbacks(console["app"], count=1)
    assert [callback.message.items[0].text for callback in receiving.read] == ["hi"]


@pytest.mark.parametrize(
    ("knobs", "status"),
    [
        ({"wrong_signature": True}, 403),
        ({"age_seconds": 86_400}, 403),
        ({"receive_id": "wwsomebodyelse"}, 400),
        ({"inner_dtd": True}, 400),
    ],
    ids=lambda given: next(iter(given)) if isinstance(given, dict) else str(given),
)
def test_what_is_forged_or_malformed_is_refused_and_never_read(
    wecom: WecomControl, console: AppCredentials, receiving: Receiving, knobs: dict[str, Any], status: int
) -> None:
    wecom.say(console["app"], USER, "hi", attempts=1, **knobs)
    wecom.callbacks(console["app"], count=1)
    assert [error.status for error in receiving.refused] == [status]
    assert receiving.read == []


def test_events_are_read_and_answered_as_the_channel_says(
    wecom: WecomControl, console: AppCredentials, receiving: Receiving
) -> None:
    for event, fields in (("subscribe", {}), ("enter_agent", {}), ("click", {"EventKey": "HOURS"}), ("no_such", {})):
        wecom.event(console["app"], USER, event, {"EventKey": "", **fields})
    wecom.callbacks(console["app"], count=4)
    found = {callback.message.reason or callback.message.items[0].text: callback.welcome_text
             for callback in receiving.read}  # fmt: skip
    assert found == {"event: subscribe": "欢迎", "event: enter_agent": "", "几点开门？": "", "event: no_such": ""}


def test_a_picture_that_comes_in_can_be_fetched_for_three_days(
    wecom: WecomControl, console: AppCredentials, receiving: Receiving, files: WecomMedia, member: WecomAccount
) -> None:
    data = png(30_000)
    wecom.write(console["app"], USER, [wecom.put_media(console["app"], "image", data)])
    wecom.callbacks(console["app"], count=1)
    raw = receiving.read[0].message.raw
    pieces: list[bytes] = []
    files.fetch(member, raw, 0, pieces.append, 10.0)
    assert b"".join(pieces) == data
    wecom.advance_clock(3 * 86_400 + 60)
    with pytest.raises(MediaUnreadable, match="内容已过期"):
        files.fetch(member, raw, 0, pieces.append, 10.0)
