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
