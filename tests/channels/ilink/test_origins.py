"""Addresses come with messages, and anybody can write a message."""

from __future__ import annotations

import pytest

from wechat_bridge.channels.ilink.origins import Origins

WECHAT = Origins.of(["https://*.weixin.qq.com"])
LOCAL = Origins.of(["http://127.0.0.1:*", "http://cdn.test:8080"])


@pytest.mark.parametrize(
    "url",
    [
        "https://novac2c.cdn.weixin.qq.com/c2c/download?encrypted_query_param=aW1n",
        "https://ilinkai.weixin.qq.com",
        "https://NOVAC2C.cdn.Weixin.QQ.com/c2c",
        "https://novac2c.cdn.weixin.qq.com:443/c2c?x=%2F",
        "https://novac2c.cdn.weixin.qq.com./c2c",
    ],
)
def test_hosts_of_wechat_are_asked_over_https(url: str) -> None:
    assert WECHAT.allow(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "file:///etc/passwd",
        "http://169.254.169.254/",
        "https://169.254.169.254/latest/meta-data",
        "http://127.0.0.1:8080/",
        "https://10.0.0.1/",
        "https://192.168.1.1/",
        "https://[::1]/",
        "https://localhost/",
        "https://2130706433/",
        "http://novac2c.cdn.weixin.qq.com/c2c",
        "https://novac2c.cdn.weixin.qq.com:8443/c2c",
        "https://weixin.qq.com.evil.test/",
        "https://evilweixin.qq.com/",
        "https://weixin.qq.com/",
        "https://.weixin.qq.com/",
        "https://evil.test/?host=a.weixin.qq.com",
        "https://evil.test#.weixin.qq.com",
        "https://a.weixin.qq.com@evil.test/",
        "https://user:password@a.weixin.qq.com/",
        "https://evil.test\\.weixin.qq.com/",
        "https://evil.test\\@a.weixin.qq.com/",
        "https://a.weixin.qq.com\t.evil.test/",
        "https://a.weixin.qq.com /",
        "https:a.weixin.qq.com/",
        "https:///a.weixin.qq.com/",
        "//a.weixin.qq.com/",
        "ftp://a.weixin.qq.com/",
        "gopher://a.weixin.qq.com/",
        "https://ａ.weixin.qq.com/",
        "https://a.weixin.qq.com/\r\nHost: evil.test",
        "https://a.weixin.qq.com/" + "x" * 9_000,
    ],
)
def test_nothing_else_is(url: str) -> None:
    assert not WECHAT.allow(url)


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://127.0.0.1:1234/c2c", True),
        ("http://127.0.0.1/c2c", True),
        ("https://127.0.0.1:1234/c2c", False),
        ("http://127.0.0.2:1234/", False),
        ("http://cdn.test:8080/x", True),
        ("http://cdn.test/x", False),
        ("http://sub.cdn.test:8080/x", False),
    ],
)
def test_an_origin_names_scheme_host_and_port(url: str, allowed: bool) -> None:
    assert LOCAL.allow(url) is allowed


def test_without_origins_nothing_is_asked_anywhere() -> None:
    assert not Origins.of([]).allow("https://a.weixin.qq.com/")


@pytest.mark.parametrize("entry", ["*", "weixin.qq.com", "https://", "https://*", "https://a/path", "https://*.", ""])
def test_what_is_written_otherwise_allows_nothing(entry: str) -> None:
    assert Origins.of([entry]).allowed == ()
