"""The web process behind a reverse proxy that is configured by ``docker/nginx.conf``, path prefix and all."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from tests.channels.scripted_server import ScriptedServer
from tests.support.reverse_proxy import ReverseProxy, proxies
from tests.support.system import wait_until
from tests.support.wecom_app import App
from tests.support.wecom_world import secrets_of
from tests.web.conftest import WebProcess
from wechat_bridge.flow.doctor.url import of_url
from wechat_bridge.flow.health.check import Check
from wechat_bridge.live import Live
from wechat_bridge.local.ports import free_port, http_ok
from wechat_bridge.simulators.wecom import AppCredentials, WecomControl
from wechat_bridge.wiring import Wired

Launch = Callable[[int], ReverseProxy]


@pytest.fixture(scope="module", params=sorted(proxies()))
def launch(
    request: pytest.FixtureRequest, repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Launch]:
    """Start a proxy in front of a port."""
    site = (repository / "docker" / "nginx.conf").read_text()
    running: list[ReverseProxy] = []

    def start(upstream_port: int) -> ReverseProxy:
        proxy = proxies()[request.param](site, upstream_port, tmp_path_factory.mktemp("proxy"))
        running.append(proxy)
        proxy.start()
        wait_until(lambda: _answers(proxy.port), 10, "the proxy answers")
        return proxy

    yield start
    for proxy in running:
        proxy.stop()


@pytest.fixture(scope="module")
def proxy(launch: Launch, web: WebProcess) -> ReverseProxy:
    """A proxy in front of the web process."""
    return launch(web.port)


@pytest.fixture
def app(wired: Wired, console: AppCredentials) -> App:
    """A channel for the app of the console."""
    return App.create(wired.bridge, secrets_of(console), corp_id=console["corp_id"], agent_id=int(console["agent_id"]))


def _answers(port: int) -> bool:
    try:
        return requests.get(f"http://127.0.0.1:{port}/", timeout=5).status_code == 404
    except requests.ConnectionError:
        return False


def looked(wired: Wired, app: App, base: str) -> Check:
    """What doctor says of the callback URL below an address."""
    settings = wired.bridge.settings.model_copy(update={"public_base_url": base})
    channel = wired.bridge.channels.get(app.share_id)
    assert channel is not None
    return of_url(dataclasses.replace(wired.bridge, live=Live(settings)), wired.http, channel, app.account)[0]


def test_wecom_takes_the_address_with_its_prefix_and_its_callbacks_come_through(
    wired: Wired, wecom: WecomControl, console: AppCredentials, app: App, proxy: ReverseProxy
) -> None:
    checked = wecom.set_callback(console["app"], f"http://127.0.0.1:{proxy.port}/bridge/wecom/{app.share_id}")
    assert (checked["ok"], checked["status"]) == (True, 200), checked
    before = len(wecom.callbacks(console["app"]))
    wecom.say(console["app"], "ann", "你好 😀", "again")
    rows = wecom.callbacks(console["app"], after=before, count=2)
    assert [len(row["attempts"]) for row in rows] == [1, 1]
    assert app.texts() == ["你好 😀", "again"]


def test_doctor_finds_the_address_good_and_a_lost_prefix_bad(wired: Wired, app: App, proxy: ReverseProxy) -> None:
    base = f"http://127.0.0.1:{proxy.port}"
    assert looked(wired, app, f"{base}/bridge").ok
    lost = looked(wired, app, base)
    assert not lost.ok
    assert "the path is lost" in lost.detail


def test_only_callbacks_and_media_are_let_through(web: WebProcess, proxy: ReverseProxy) -> None:
    assert http_ok(web.port, "GET", "/livez")
    for path in ("/livez", "/readyz", "/metrics"):
        for prefix in ("", "/bridge", "/bridge/wecom/..", "/bridge/media/%2e%2e"):
            # A prepared address keeps its dots; requests would take them out before the proxy sees them.
            request = requests.Request("GET", f"http://127.0.0.1:{proxy.port}/").prepare()
            request.url = f"http://127.0.0.1:{proxy.port}{prefix}{path}"
            with requests.Session() as session:
                assert session.send(request, timeout=10).status_code in (400, 404)
    media = requests.get(f"http://127.0.0.1:{proxy.port}/bridge/media/unknown", timeout=10)
    assert media.headers["content-type"].startswith("text/plain")


def test_a_body_larger_than_any_callback_is_refused_at_the_door(app: App, proxy: ReverseProxy) -> None:
    url = f"http://127.0.0.1:{proxy.port}/bridge/wecom/{app.share_id}?msg_signature=a&timestamp=1&nonce=1"
    assert requests.post(url, data=b"x" * (1024 * 1024 + 1), timeout=10).status_code == 413


def test_the_bridge_is_told_who_calls_and_not_who_the_caller_says_to_be(launch: Launch) -> None:
    with ScriptedServer(lambda exchange: exchange.answer(b"", "200 OK", "Connection: close")) as upstream:
        proxy = launch(upstream.port)
        url = f"http://127.0.0.1:{proxy.port}/bridge/wecom/shop?echostr=a%2Bb%2F"
        requests.get(url, headers={"X-Forwarded-For": "203.0.113.9"}, timeout=10)
        [seen] = [request for request in upstream.received if "shop" in request.path]
    assert seen.path == "/wecom/shop?echostr=a%2Bb%2F"
    told = {name: seen.headers[name] for name in ("host", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-prefix")}
    assert told == {
        "host": "127.0.0.1",
        "x-forwarded-for": "127.0.0.1",
        "x-forwarded-proto": "http",
        "x-forwarded-prefix": "/bridge",
    }


def test_what_the_bridge_does_not_answer_is_not_answered_by_the_proxy(launch: Launch, wired: Wired, app: App) -> None:
    with ScriptedServer(lambda exchange: exchange.cut()) as upstream:
        ports = (launch(upstream.port).port, launch(free_port()).port)
        for port in ports:
            with pytest.raises(requests.ConnectionError):
                requests.post(f"http://127.0.0.1:{port}/bridge/wecom/shop", data=b"<xml/>", timeout=10)
        assert [request.method for request in upstream.received] == ["POST"]
        said = looked(wired, app, f"http://127.0.0.1:{ports[1]}/bridge").detail
    assert "the connection ends without an answer" in said
