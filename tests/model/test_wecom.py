"""An app of WeCom as configured."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from wechat_bridge.model.wecom import WecomAccount, WecomSecrets, WecomSettings, account_of

SECRETS = WecomSecrets(secret="the-secret", token="the-token", encoding_aes_key="k" * 43, proxy_login="me:pass-word")


def settings(**changes: Any) -> WecomSettings:
    return WecomSettings.model_validate({"corp_id": "ww1", "agent_id": 7} | changes)


def test_an_account_has_what_its_doors_need() -> None:
    account = account_of(settings(proxy="http://10.0.0.1:3128"), SECRETS)
    assert (account.corp_id, account.agent_id, account.account_id) == ("ww1", 7, "ww1:7")
    assert (account.token, account.callback_token) == ("the-secret", "the-token")
    assert account.proxy == "http://me:pass-word@10.0.0.1:3128"
    assert account.base_url == "https://qyapi.weixin.qq.com"


def test_without_a_proxy_its_login_is_nowhere() -> None:
    assert account_of(settings(), SECRETS).proxy == ""


def test_nothing_secret_is_shown_by_the_secrets_or_the_account() -> None:
    shown = f"{SECRETS!r} {account_of(settings(proxy='http://10.0.0.1:3128'), SECRETS)!r}"
    assert not any(secret in shown for secret in ("the-secret", "the-token", "k" * 43, "pass-word"))


def test_an_account_comes_out_of_json_as_it_went_in() -> None:
    account = account_of(settings(), SECRETS)
    assert WecomAccount.model_validate_json(account.model_dump_json()) == account


def test_another_secret_or_server_has_another_mark_and_a_mark_gives_nothing_away() -> None:
    account = account_of(settings(), SECRETS)
    others = [account.model_copy(update=change) for change in ({"token": "new"}, {"base_url": "https://own.cn"})]
    assert len({one.mark for one in [account, *others]}) == 3
    assert account_of(settings(welcome_text="hi"), SECRETS).mark == account.mark
    assert "secret" not in account.mark


@pytest.mark.parametrize(
    "wrong",
    [
        {"proxy": "http://me:pass@10.0.0.1:3128"},
        {"proxy": "socks5://10.0.0.1:1080"},
        {"proxy": "10.0.0.1:3128"},
        {"api_base_url": "qyapi.weixin.qq.com"},
        {"api_base_url": "https://own.cn/?debug=1"},
        {"corp_id": ""},
        {"corp_id": "ww 1"},
        {"agent_id": -1},
        {"freshness_seconds": -1},
        {"no_such_setting": 1},
    ],
)
def test_a_wrong_setting_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        settings(**wrong)


@pytest.mark.parametrize("clicks", [True, False, {"HOURS": "几点开门？"}])
def test_clicks_are_all_none_or_a_table(clicks: Any) -> None:
    assert settings(clicks=clicks).clicks == clicks


@pytest.mark.parametrize("wrong", ["", "k" * 42, "k" * 44, "k" * 42 + "-", "密" * 43])
def test_a_wrong_key_is_refused_before_it_is_kept_and_not_shown(wrong: str) -> None:
    with pytest.raises(ValidationError, match="should be 43 letters and digits") as caught:
        WecomSecrets(secret="s", token="t", encoding_aes_key=wrong)
    assert not wrong or wrong not in str(caught.value)


def test_blanks_around_a_key_are_dropped() -> None:
    assert WecomSecrets(secret="s", token="t", encoding_aes_key=f" {'k' * 43}=\n").encoding_aes_key == "k" * 43 + "="


def test_the_password_of_a_refused_proxy_is_not_shown() -> None:
    with pytest.raises(ValidationError, match="belong into proxy_login") as caught:
        settings(proxy="http://me:pass-word@10.0.0.1:3128")
    assert "pass-word" not in str(caught.value)
