"""What an operator changes of an app, and what waits for it."""

from __future__ import annotations

import copy
import dataclasses

import pytest

from tests.support.wecom_app import SECRETS, App
from wechat_bridge.channels.wecom.crypto import key_of
from wechat_bridge.errors import ChannelBusy, ChannelInvalid, CredentialRefused
from wechat_bridge.flow.customer_service.channel import add_customer_service
from wechat_bridge.flow.wecom.app import app_of
from wechat_bridge.flow.wecom.change import change_app, missing_secrets, new_callback_keys
from wechat_bridge.flow.wecom.held import begin_hold, check_held
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.hold import StillHeld
from wechat_bridge.model.wecom_kf import KfSettings
from wechat_bridge.wiring import Wired


@pytest.fixture
def app(wired: Wired) -> App:
    return App.create(wired.bridge, welcome_text="hi")


def stored(wired: Wired, share_id: str) -> Channel:
    channel = wired.bridge.channels.get(share_id)
    assert channel is not None
    return channel


def test_made_keys_are_of_the_consoles_form_and_never_the_same() -> None:
    made = [new_callback_keys() for _ in range(50)]
    assert len({keys["token"] for keys in made}) == len({keys["encoding_aes_key"] for keys in made}) == 50
    for keys in made:
        assert len(key_of(keys["encoding_aes_key"])) == 32
        assert keys["encoding_aes_key"].isalnum()
        assert (len(keys["token"]), keys["token"].isalnum()) == (32, True)


def test_a_new_secret_lets_a_held_reply_find_out_at_once_whether_it_helped(wired: Wired, app: App) -> None:
    begin_hold(wired.bridge, stored(wired, app.share_id), CredentialRefused("the secret is wrong", 40001))
    change_app(wired.bridge, app.share_id, {}, {"secret": "right"}, "me")
    channel = stored(wired, app.share_id)
    check_held(wired.bridge, channel, "turn-1")
    with pytest.raises(StillHeld):
        check_held(wired.bridge, stored(wired, app.share_id), "turn-2")
    assert (channel.epoch, channel.settings["welcome_text"]) == (1, "hi")
    assert app_of(wired.bridge, channel)[1].token == "right"


def test_a_change_holds_nothing_that_was_not_held(wired: Wired, app: App) -> None:
    change_app(wired.bridge, app.share_id, {"welcome_text": ""}, {}, "me")
    assert stored(wired, app.share_id).hold is None


def test_nothing_is_changed_by_what_does_not_fit(wired: Wired, app: App) -> None:
    before = stored(wired, app.share_id)
    for settings, secrets, words in (
        ({"proxy": "10.0.0.9"}, {}, "proxy: should be http://host:port"),
        ({"api_base_url": "ftp://x"}, {}, "api_base_url: should be an address"),
        ({}, {"encoding_aes_key": "short"}, "encoding_aes_key: should be 43"),
    ):
        with pytest.raises(ChannelInvalid, match=words):
            change_app(wired.bridge, app.share_id, settings, secrets, "me")
    assert stored(wired, app.share_id) == before


def test_a_change_neither_undoes_another_nor_brings_removed_credentials_back(wired: Wired, app: App) -> None:
    before = stored(wired, app.share_id)
    late = copy.copy(wired.bridge.channels)
    object.__setattr__(late, "get", lambda _: before)  # what was read before the others
    slow = dataclasses.replace(wired.bridge, channels=late)
    change_app(wired.bridge, app.share_id, {}, {"token": "first"}, "one")
    with pytest.raises(ChannelBusy, match="was changed or removed meanwhile"):
        change_app(slow, app.share_id, {}, {"secret": "second"}, "other")
    assert app_of(wired.bridge, stored(wired, app.share_id))[1].callback_token == "first"
    wired.bridge.accounts.log_out(app.share_id)
    with pytest.raises(ChannelBusy):
        change_app(slow, app.share_id, {"proxy": ""}, {}, "other")
    assert stored(wired, app.share_id).sealed_account is None


def test_what_is_missing_is_known_when_credentials_are_gone_or_no_key_opens_them(wired: Wired, app: App) -> None:
    assert missing_secrets(wired.bridge, app.share_id) == []
    wired.bridge.channels.configure(app.share_id, {"sealed_account": "gAAAAA-of-another-key"})
    assert missing_secrets(wired.bridge, app.share_id) == ["secret", "token", "encoding_aes_key"]
    wired.bridge.accounts.log_out(app.share_id)
    assert missing_secrets(wired.bridge, app.share_id) == ["secret", "token", "encoding_aes_key"]


def test_customer_service_keeps_its_account_and_may_change_the_rest(wired: Wired) -> None:
    settings = KfSettings(corp_id="wwcorpkf", agent_id=7, open_kfid="wkAJ2GCAAA")
    add_customer_service(wired.bridge, "kf-changed", settings, SECRETS)
    change_app(wired.bridge, "kf-changed", {"proxy": "http://10.0.0.9:3128"}, {}, "me")
    channel = stored(wired, "kf-changed")
    assert (channel.settings["proxy"], channel.account_id) == ("http://10.0.0.9:3128", "wwcorpkf:wkAJ2GCAAA")
    with pytest.raises(ChannelInvalid, match="another account of customer service is another channel"):
        change_app(wired.bridge, "kf-changed", {"corp_id": "wwother"}, {}, "me")
