"""Which hosts a login may lead to."""

from __future__ import annotations

import pytest

from wechat_bridge.model.login_hosts import may_use, redirect_url

BASE = "https://ilinkai.weixin.qq.com"
DEFAULT = ("*.weixin.qq.com",)
WITH_SIMULATOR = (*DEFAULT, "127.0.0.1", "idc2.example.test")


@pytest.mark.parametrize(
    ("host", "allowed", "url"),
    [
        ("ilinkai-sh.weixin.qq.com", DEFAULT, "https://ilinkai-sh.weixin.qq.com"),
        ("ILINK.Weixin.QQ.com", DEFAULT, "https://ilink.weixin.qq.com"),
        ("a.b.weixin.qq.com:8443", DEFAULT, "https://a.b.weixin.qq.com:8443"),
        ("ilinkai.weixin.qq.com", (), BASE),  # where the code came from
        ("idc2.example.test", WITH_SIMULATOR, "https://idc2.example.test"),
        ("127.0.0.1:8080", WITH_SIMULATOR, "http://127.0.0.1:8080"),
        ("idc2.example.test", DEFAULT, None),
        ("x.idc2.example.test", WITH_SIMULATOR, None),
        ("127.0.0.1", DEFAULT, None),
        ("127.0.0.1:8080", DEFAULT, None),
        ("169.254.169.254", WITH_SIMULATOR, None),
        ("weixin.qq.com", DEFAULT, None),
        (".weixin.qq.com", DEFAULT, None),
        ("evilweixin.qq.com", DEFAULT, None),
        ("x.weixin.qq.com.evil.test", DEFAULT, None),
        ("evil.test/..", DEFAULT, None),
        ("evil.test/.weixin.qq.com", DEFAULT, None),
        ("evil.test#.weixin.qq.com", DEFAULT, None),
        ("evil.test\\.weixin.qq.com", DEFAULT, None),
        ("user@x.weixin.qq.com", DEFAULT, None),
        ("x.weixin.qq.com.", DEFAULT, None),
        ("x.weixin.qq.com:0", DEFAULT, None),
        ("x.weixin.qq.com:99999", DEFAULT, None),
        ("x.weixin.qq.com:", DEFAULT, None),
        ("x .weixin.qq.com", DEFAULT, None),
        ("x.weixin.qq.com\n", DEFAULT, None),
        ("ｘ.weixin.qq.com", DEFAULT, None),
        ("a" * 300 + ".weixin.qq.com", DEFAULT, None),
        ("", DEFAULT, None),
    ],
)
def test_a_redirect_leads_to_a_host_of_the_list_or_nowhere(
    host: str, allowed: tuple[str, ...], url: str | None
) -> None:
    assert redirect_url(host, BASE, allowed) == url


def test_a_simulator_may_name_itself_without_any_setting() -> None:
    assert redirect_url("127.0.0.1:8080", "http://127.0.0.1:8080", DEFAULT) == "http://127.0.0.1:8080"
    assert redirect_url("127.0.0.1:8081", "http://127.0.0.1:8080", DEFAULT) is None


@pytest.mark.parametrize(
    ("base_url", "fits"),
    [
        ("https://ilinkai.weixin.qq.com", True),
        ("https://idc2.weixin.qq.com/prefix", True),
        ("https://idc2.example.test", True),
        ("http://127.0.0.1:8080", True),
        ("http://ilinkai.weixin.qq.com", False),
        ("http://idc2.weixin.qq.com", False),
        ("https://idc2.weixin.qq.com/?x=1", False),
        ("https://idc2.weixin.qq.com@evil.test", False),
        ("https://evil.test", False),
        ("https://[::1", False),
        ("file:///etc/passwd", False),
        ("", False),
    ],
)
def test_an_account_is_used_at_an_address_of_the_list_only(base_url: str, fits: bool) -> None:
    assert may_use(base_url, BASE, WITH_SIMULATOR) is fits
