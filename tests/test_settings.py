"""Settings as people write them in the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from wechat_bridge.errors import SettingsError
from wechat_bridge.settings import load_settings


def test_origins_of_media_are_a_list_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().media.origins == ("https://*.weixin.qq.com",)
    monkeypatch.setenv("WECHAT_BRIDGE_MEDIA__ORIGINS", "https://*.weixin.qq.com, http://127.0.0.1:*,")
    monkeypatch.setenv("WECHAT_BRIDGE_MEDIA__FOLDER", "/var/lib/media")
    media = load_settings().media
    assert media.origins == ("https://*.weixin.qq.com", "http://127.0.0.1:*")
    assert media.folder == Path("/var/lib/media")


@pytest.mark.parametrize(
    "written", ["*", "weixin.qq.com", "https://", "https://*", "https://a/path", "file:///x", "https://a b"]
)
def test_an_origin_that_is_none_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("WECHAT_BRIDGE_MEDIA__ORIGINS", f"https://*.weixin.qq.com,{written}")
    with pytest.raises(SettingsError, match="WECHAT_BRIDGE_MEDIA__ORIGINS: should be addresses like"):
        load_settings()


def test_a_limit_that_cannot_be_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WECHAT_BRIDGE_MEDIA__MOST_BYTES", "0")
    with pytest.raises(SettingsError, match="WECHAT_BRIDGE_MEDIA__MOST_BYTES"):
        load_settings()


@pytest.mark.parametrize("name", ["REDIS_URL", "MONGODB_URL", "WECHAT_REPLY_CONCURRENCY"])
def test_a_setting_that_stands_without_our_prefix_is_refused_by_its_own_name(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "x")
    with pytest.raises(SettingsError, match=f"^{name}: .* Set the environment variable {name} accordingly"):
        load_settings()


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("", ""),
        (" https://bridge.example.com/ ", "https://bridge.example.com"),
        ("http://10.0.0.7:8400", "http://10.0.0.7:8400"),
        ("https://example.com/wechat/", "https://example.com/wechat"),
    ],
)
def test_the_public_address_may_end_in_a_slash_and_lie_below_a_path(
    monkeypatch: pytest.MonkeyPatch, written: str, address: str
) -> None:
    assert load_settings().public_base_url == ""
    monkeypatch.setenv("PUBLIC_BASE_URL", written)
    assert load_settings().public_base_url == address


@pytest.mark.parametrize(
    "written", ["bridge.example.com", "ftp://x", "https://", "https://u:hunter2@x", "https://x?a=1", "https://x/#y"]
)
def test_a_public_address_that_is_none_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("PUBLIC_BASE_URL", written)
    with pytest.raises(SettingsError, match=r"^PUBLIC_BASE_URL: should be an address like https://") as refused:
        load_settings()
    assert "hunter2" not in str(refused.value)
