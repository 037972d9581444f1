"""Tencent's own crypto calls our webhook, as a real web process serves it."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.wecom_app import AES_KEY, TOKEN, App
from tests.web.conftest import WebProcess, web
from wechat_bridge.wiring import Wired

from .conftest import Driver
from .wecom_packages import drive_wecom

__all__ = ["drive_wecom", "web"]


def test_the_official_crypto_passes_the_url_check_and_what_it_says_is_kept_once(
    web: WebProcess, wired: Wired, drive_wecom: Callable[..., Driver]
) -> None:
    app = App.create(wired.bridge)
    url = f"http://127.0.0.1:{web.port}/wecom/{app.share_id}"
    arguments = (app.account.corp_id, str(app.account.agent_id), TOKEN, AES_KEY)
    report = drive_wecom("wecom_call.mjs", url, *arguments).report()
    assert report["check"] == [200, "1616140317555161061"]
    for name in ("text", "again", "event"):
        assert report[name] == [200, ""]
    assert report["lengths"] == [[200, ""]] * 32
    assert [report[name][0] for name in ("forged", "foreign", "stale")] == [403, 400, 403]
    rows = app.rows()
    assert sorted(row.items[0].text for row in rows if row.items) == sorted(
        ["你好😀", *("x" * n for n in range(1, 33))]
    )
    assert [row.reason for row in rows if not row.items] == ["event: enter_agent"]
    assert "ZhangSan:7459035031717794886" in {row.message_id for row in rows}
