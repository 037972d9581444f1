"""Tencent's own WeCom programs against the simulator: its crypto, its receiver of callbacks, its HTTP client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wechat_bridge.simulators.wecom import AppCredentials, WecomControl, WecomOptions, WecomSimulator

from .conftest import Driver
from .wecom_certificate import write_certificate
from .wecom_packages import drive_wecom, free_port

__all__ = ["drive_wecom"]

USER = "ZhangSan"
START_SECONDS = 30.0


@pytest.fixture(scope="module")
def simulated_wecom() -> Iterator[WecomSimulator]:
    """One that waits for programs that take their time to start."""
    with WecomSimulator(WecomOptions(url_check_seconds=5)) as running:
        yield running


def take_over(wecom: WecomControl, console: AppCredentials, url: str) -> None:
    """Enter a callback URL in the console, as soon as somebody listens there."""
    deadline = time.monotonic() + START_SECONDS
    while not (checked := wecom.set_callback(console["app"], url))["ok"]:
        assert checked["status"] == 0, checked
        assert time.monotonic() < deadline, checked
        time.sleep(0.1)


def test_the_official_receiver_passes_the_url_check_and_takes_texts_repeats_and_events(
    wecom: WecomControl, console: AppCredentials, drive_wecom: Callable[..., Driver]
) -> None:
    port = free_port()
    credentials = (console["corp_id"], console["agent_id"], console["token"], console["encoding_aes_key"])
    receiver = drive_wecom("wecom_receive.mjs", str(port), *credentials)
    take_over(wecom, console, f"http://127.0.0.1:{port}/plugins/wecom/agent")
    [msg_id] = wecom.say(console["app"], USER, "你好😀 ]]> <b>", duplicates=1, pad=32)
    wecom.callbacks(console["app"], count=1)
    wecom.event(console["app"], USER, "enter_agent")
    rows = wecom.callbacks(console["app"], count=2)
    assert [row["state"] for row in rows] == ["accepted", "accepted"]
    receiver.type("stop")
    log = "\n".join(receiver.report()["log"])
    assert f"text from={USER} chatId=N/A msgId={msg_id} content=你好😀 ]]> <b>" in log
    assert f"duplicate msgId={msg_id}" in log
    assert f"event=enter_agent from={USER} reason=event:enter_agent" in log


def test_the_official_receiver_refuses_what_the_simulator_forges(
    wecom: WecomControl, console: AppCredentials, drive_wecom: Callable[..., Driver]
) -> None:
    port = free_port()
    credentials = (console["corp_id"], console["agent_id"], console["token"], console["encoding_aes_key"])
    drive_wecom("wecom_receive.mjs", str(port), *credentials)
    take_over(wecom, console, f"http://127.0.0.1:{port}/plugins/wecom/agent")
    wecom.say(console["app"], USER, "hi", wrong_signature=True)
    wecom.say(console["app"], USER, "hi", receive_id="wwANOTHER")
    forged, foreign = wecom.callbacks(console["app"], count=2)
    assert [attempt["status"] for attempt in forged["attempts"]] == [401] * 3
    assert [attempt["status"] for attempt in foreign["attempts"]] == [400] * 3


def test_the_official_crypto_decrypts_what_the_simulator_encrypts_and_the_other_way_round(
    wecom: WecomControl, console: AppCredentials, drive_wecom: Callable[..., Driver]
) -> None:
    port = free_port()
    peer = drive_wecom("wecom_answer.mjs", str(port), console["token"], console["encoding_aes_key"])
    take_over(wecom, console, f"http://127.0.0.1:{port}/")
    texts = ["你好😀" + "x" * length for length in range(32)]
    wecom.say(console["app"], USER, *texts)
    wecom.callbacks(console["app"], count=len(texts))
    seen = [shown["text"] for shown in wecom.deliveries(USER)]
    # The 31st and later ones are not discarded: passive replies answer a person and do not count as sends.
    assert seen == [f"echo: {text}" for text in texts]
    peer.type("stop")
    heard = peer.report()
    assert {one["id"] for one in heard} == {console["corp_id"]}
    assert [f"<![CDATA[{text}]]>" in one["message"] for text, one in zip(texts, heard, strict=True)] == [True] * 32


def test_the_official_client_gets_a_token_sends_uploads_and_downloads(
    wecom: WecomControl,
    console: AppCredentials,
    drive_wecom: Callable[..., Driver],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wecom.set_app(console["app"], visible_users=["ZhangSan", "LiSi"])
    key_file, certificate_file = write_certificate(tmp_path)
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(certificate_file))
    arguments = (console["api_base_url"], console["corp_id"], console["secret"], console["agent_id"])
    report = drive_wecom("wecom_send.mjs", *arguments, str(key_file), str(certificate_file)).report()
    assert "invaliduser=outsider" in report["outsider"]
    assert "81013" in report["nobody"]
    assert (report["same"], report["filename"]) == (True, "file.txt")
    first, second, file = wecom.deliveries(USER)
    assert [first["text"], second["text"], file["msgtype"]] == ["你好😀", "to two", "file"]
    assert wecom.get_media(console["app"], report["mediaId"]) == b"0123456789"
    assert [shown["text"] for shown in wecom.deliveries("LiSi")] == ["你好😀"]
    assert wecom.stats()["calls"]["gettoken 0"] == 1
