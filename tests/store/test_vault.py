"""Credentials at rest: never in the clear, readable after the key was rotated, and nobody is told a secret."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from wechat_bridge.errors import NotConfigured, SettingsError
from wechat_bridge.model.channel import Account
from wechat_bridge.store.vault import Vault, new_key

ACCOUNT = Account(token="b1@im.bot:0600000012ab", account_id="b1@im.bot", base_url="https://example.test")


def vault(*keys: str) -> Vault:
    """A vault with these keys, newest first."""
    return Vault([SecretStr(key) for key in keys])


def test_an_account_comes_out_as_it_went_in_and_cannot_be_read_in_between() -> None:
    box = vault(new_key())
    sealed = box.seal(ACCOUNT)
    assert box.open(sealed) == ACCOUNT
    assert "0600000012ab" not in sealed
    assert box.seal(ACCOUNT) != sealed


def test_after_a_rotation_the_old_key_still_opens_and_the_new_one_seals() -> None:
    old, new = new_key(), new_key()
    sealed_before = vault(old).seal(ACCOUNT)
    both = vault(new, old)
    assert both.open(sealed_before) == ACCOUNT
    assert vault(new).open(both.seal(ACCOUNT)) == ACCOUNT


def test_without_the_right_key_it_stays_shut_and_says_what_to_do() -> None:
    sealed = vault(new_key()).seal(ACCOUNT)
    with pytest.raises(NotConfigured, match=r"WECHAT_BRIDGE_SECRET_KEYS.*add the old key"):
        vault(new_key()).open(sealed)


@pytest.mark.parametrize("sealed", ["", "garbage", "gAAAAA"])
def test_what_is_no_sealed_account_stays_shut(sealed: str) -> None:
    with pytest.raises(NotConfigured):
        vault(new_key()).open(sealed)


def test_without_a_key_nothing_is_stored_in_the_clear() -> None:
    with pytest.raises(NotConfigured, match="never stored in the clear"):
        vault().seal(ACCOUNT)


@pytest.mark.parametrize("key", ["too-short", "x" * 44, "é" * 44, ""])
def test_a_key_that_is_none_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(SettingsError, match="32 bytes in URL-safe base64") as refused:
        vault(key)
    assert not key or key not in str(refused.value)


def test_a_secret_that_is_no_account_is_kept_the_same_way() -> None:
    key = new_key()
    sealed = vault(key).seal_text("密 secret")
    assert "secret" not in sealed
    assert vault(new_key(), key).open_text(sealed) == "密 secret"
    with pytest.raises(NotConfigured, match="add the old key"):
        vault(new_key()).open_text(sealed)
