"""What engines say when something is wrong, and what they ask for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import quote

import pytest

from tests.store.test_media_links import NOW, links, media, token
from wechat_bridge.engines.failures import Failures, error_text, retry_after
from wechat_bridge.errors import EngineRefused, EngineUnavailable


def test_a_pause_until_a_date_is_understood() -> None:
    at = datetime.now(UTC) + timedelta(seconds=30)
    assert retry_after(format_datetime(at, usegmt=True)) == pytest.approx(30, abs=3)
    assert retry_after(format_datetime(at - timedelta(hours=1), usegmt=True)) is None


@pytest.mark.parametrize("value", [None, "", "nan", "inf", "-inf", "0", "Mon, 99 Foo 2026"])
def test_a_pause_that_means_nothing_is_none(value: str | None) -> None:
    assert retry_after(value) is None


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ({"error": {"message": "m", "type": "t", "code": "c"}}, "c t m"),
        ({"error": "plain"}, "plain"),
        ({"code": 400, "status": 400, "message": "m"}, "400 m"),
        ({"code": None}, "no reason given"),
        (["odd"], "['odd']"),
        (None, "no reason given"),
    ],
)
def test_errors_of_every_shape_say_what_they_say(error: Any, text: str) -> None:
    assert error_text(error) == text


def test_long_and_many_lined_errors_become_one_line() -> None:
    text = str(Failures("e", "https://host").unavailable("a\nb\t" + "x" * 1_000))
    assert "\n" not in text
    assert text.startswith("engine e (https://host): a b xxx")
    assert len(text) < 400


def test_keys_that_nobody_told_of_are_cut_out_too() -> None:
    text = str(Failures("e", "").refused("wrong key sk-abcdefgh**1234, use Bearer abcdef.ghijkl"))
    assert "abcdef" not in text


def test_a_link_to_a_picture_that_an_engine_could_not_fetch_is_cut_out() -> None:
    link = links().link_to(media(), NOW)
    for said in (link, quote(link, safe="")):
        text = str(Failures("e", "").of_status(400, f"cannot fetch {said}: 404"))
        assert "gAAAA" not in text
        assert "cannot fetch" in text
        assert token(link)[6:] not in text


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": "429", "message": "slow down"}, EngineUnavailable),
        ({"status": 400, "code": "invalid_param", "message": "m"}, EngineRefused),
        ({"type": "invalid_request_error", "message": "unknown model"}, EngineRefused),
        ({"type": "overloaded_error", "message": "invalid state, overloaded"}, EngineUnavailable),
        ("something", EngineUnavailable),
        ({"code": "\u00b2", "message": "odd digit"}, EngineUnavailable),
    ],
)
def test_errors_inside_good_answers_are_judged_by_what_they_say(error: Any, kind: type[Exception]) -> None:
    assert type(Failures("e", "").of_error(error)) is kind
