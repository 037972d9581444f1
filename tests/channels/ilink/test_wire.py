from __future__ import annotations

import base64
import tomllib
from pathlib import Path

import pytest

from wechat_bridge.channels.ilink import wire

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"


@pytest.mark.parametrize(
    ("version", "number"), [("2.4.9", "132105"), ("2.4.6", "132102"), ("2.1.1", "131329"), ("1.0.2", "65538")]
)
def test_a_version_is_one_number(version: str, number: str) -> None:
    assert wire.app_version(version) == number


def test_a_post_with_a_token_carries_all_headers() -> None:
    headers = wire.post_headers("a1b2@im.bot:0600")
    uin = base64.b64decode(headers.pop("X-WECHAT-UIN")).decode()
    assert 0 <= int(uin) < 2**32
    assert headers == {
        "Content-Type": "application/json",
        "AuthorizationType": "ilink_bot_token",
        "Authorization": "Bearer a1b2@im.bot:0600",
        "iLink-App-Id": "bot",
        "iLink-App-ClientVersion": "132105",
    }


def test_the_uin_is_new_each_time() -> None:
    assert len({wire.post_headers()["X-WECHAT-UIN"] for _ in range(20)}) > 1


def test_a_post_without_a_token_still_says_which_kind_of_token_it_would_be() -> None:
    assert "Authorization" not in wire.post_headers()
    assert wire.post_headers()["AuthorizationType"] == "ilink_bot_token"


def test_a_get_says_only_which_app_it_is() -> None:
    assert wire.get_headers() == {"iLink-App-Id": "bot", "iLink-App-ClientVersion": "132105"}


@pytest.mark.parametrize(
    "base_url", ["https://h.example/some/prefix", "https://h.example/some/prefix/", "https://h.example/some/prefix//"]
)
def test_a_base_url_may_have_a_path(base_url: str) -> None:
    assert wire.url_of(base_url, wire.GET_UPDATES) == "https://h.example/some/prefix/ilink/bot/getupdates"


def test_the_sender_says_its_release() -> None:
    version = tomllib.loads(PYPROJECT.read_text())["project"]["version"]
    assert wire.base_info() == {"channel_version": "2.4.9", "bot_agent": f"wechat-celery-bridge/{version}"}
