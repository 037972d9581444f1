"""``/media/{token}`` as the server of an engine meets it: the real web process, links made by another one."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests
from pydantic import SecretStr

from tests.engines.asking import Maker
from tests.support.media import at_the_cdn, document, image, sent, text
from tests.support.pictures import mp4, noise, pdf, png, silk
from tests.support.variations import setting, using
from tests.support.world import KEY, World
from tests.web.conftest import WebProcess
from wechat_bridge.engines.http import EngineHttp
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.local.services import MongoServer
from wechat_bridge.model import keys
from wechat_bridge.model.media import Media, MediaState
from wechat_bridge.model.message import ItemKind
from wechat_bridge.simulators.engine import EngineSimulator
from wechat_bridge.store.blobs import CHUNKS
from wechat_bridge.store.media_links import MediaLinks
from wechat_bridge.wiring import Wired


class TalkativeWebProcess(WebProcess):
    """The web process as somebody runs it who forgot that an access log writes addresses down."""

    def command(self) -> list[str]:
        return [sys.executable, "-m", "uvicorn", "wechat_bridge.web.app:app", "--port", str(self.port)]


@pytest.fixture(scope="module")
def web(urls: tuple[str, str], repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebProcess]:
    with TalkativeWebProcess(repository, tmp_path_factory.mktemp("web"), urls) as process:
        yield process


@pytest.fixture
def bridge(wired: Wired) -> Bridge:
    return wired.bridge


def links(web: WebProcess) -> MediaLinks:
    return MediaLinks([SecretStr(KEY)], f"http://127.0.0.1:{web.port}", 3_600)


def stored(bridge: Bridge, data: bytes, label: str = "", mime: str = "application/octet-stream") -> Media:
    """Something somebody sent."""
    media = Media(
        id=f"in:shop:{keys.new_token()}:0", turn_id="t", file_id=keys.new_file_name(), kind=ItemKind.FILE,
        label=label, mime=mime, at=bridge.clock.now(),
    )  # fmt: skip
    return bridge.media.put(media, data)


def link_to(web: WebProcess, bridge: Bridge, media: Media, seconds_ago: float = 0) -> str:
    return links(web).link_to(media, bridge.clock.after(-seconds_ago))


def get(link: str) -> requests.Response:
    return requests.get(link, timeout=10)


@pytest.mark.parametrize("size", [1, 261_120, 1_000_000])
def test_the_bytes_are_those_that_were_sent(web: WebProcess, bridge: Bridge, size: int) -> None:
    media = stored(bridge, noise(size))
    link = link_to(web, bridge, media)
    answer = get(link)
    assert (answer.status_code, answer.content) == (200, noise(size))
    head = requests.head(link, timeout=10)
    assert (head.status_code, head.content, head.headers["Content-Length"]) == (200, b"", str(size))
    same = ("Content-Type", "Content-Disposition", "Content-Length", "Cache-Control", "X-Content-Type-Options")
    assert [head.headers[name] for name in same] == [answer.headers[name] for name in same]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"].startswith("private")


@pytest.mark.parametrize(
    ("data", "label", "said", "mime", "disposition"),
    [
        (png(), "", "", "image/png", 'inline; filename="file.png"'),
        (mp4(), "", "", "video/mp4", 'inline; filename="file.mp4"'),
        (silk(), "", "", "audio/silk", 'inline; filename="file.bin"'),
        (png(), "evil.html", "", "image/png", 'inline; filename="file.png"'),
        (pdf(), "the plan.pdf", "", "application/pdf", 'attachment; filename="the plan.pdf"'),
        (pdf(), "计划 \"1\".pdf", "", "application/pdf",
         "attachment; filename=\"file.pdf\"; filename*=UTF-8''%E8%AE%A1%E5%88%92%20%221%22.pdf"),
        (b"<script>", "x.html", "", "text/html", 'attachment; filename="x.html"'),
        ("简体".encode("gbk"), "x.txt", "", "text/plain", 'attachment; filename="x.txt"'),
        (b"<svg/>", "", "image/svg+xml", "image/svg+xml", 'attachment; filename="file.bin"'),
        (b"<html/>", "", "text/html", "text/html", 'attachment; filename="file.bin"'),
        (b"x", "", "image/x; a\r\nX-Evil: 1", "application/octet-stream", 'attachment; filename="file.bin"'),
    ],
)  # fmt: skip
def test_the_type_is_told_and_only_what_is_harmless_is_shown_in_place(
    web: WebProcess, bridge: Bridge, data: bytes, label: str, said: str, mime: str, disposition: str
) -> None:
    answer = get(link_to(web, bridge, stored(bridge, data, label, said)))
    assert (answer.status_code, answer.content) == (200, data)
    assert answer.headers["Content-Type"] == mime
    assert answer.headers["Content-Disposition"] == disposition
    assert "X-Evil" not in answer.headers
    assert "sandbox" in answer.headers["Content-Security-Policy"]


def test_what_was_not_made_here_leads_to_nothing(web: WebProcess, bridge: Bridge) -> None:
    link = link_to(web, bridge, stored(bridge, png()))
    changed = re.sub(r"(/media/.{40}).", lambda found: found[1] + ("A" if found[0][-1] != "A" else "B"), link)
    for forged in (changed, f"{link.partition('/media/')[0]}/media/{stored(bridge, png()).id}"):
        answer = get(forged)
        assert (answer.status_code, answer.text) == (404, "There is no such link.")
        assert answer.headers["Content-Type"].startswith("text/plain")


def test_after_its_time_a_link_is_gone(web: WebProcess, bridge: Bridge) -> None:
    media = stored(bridge, png())
    assert get(link_to(web, bridge, media, seconds_ago=3_590)).status_code == 200
    expired = get(link_to(web, bridge, media, seconds_ago=3_610))
    assert (expired.status_code, expired.text) == (410, "The time of this link is over.")
    assert expired.headers["Cache-Control"] == "no-store"


def test_what_is_removed_or_was_never_complete_is_not_found(web: WebProcess, bridge: Bridge) -> None:
    removed, without_bytes, failed = (stored(bridge, png()) for _ in range(3))
    bridge.media.remove([removed.id])
    bridge.media.collection.database[CHUNKS].delete_many({"files_id": without_bytes.file_id})
    bridge.media.note(failed.model_copy(update={"state": MediaState.FAILED}))
    for media in (removed, without_bytes, failed):
        answer = get(link_to(web, bridge, media))
        assert (answer.status_code, answer.text) == (404, "What this link led to has been removed.")
    for media in (removed, failed):
        assert requests.head(link_to(web, bridge, media), timeout=10).status_code == 404


def test_nothing_of_a_token_is_logged(web: WebProcess, bridge: Bridge) -> None:
    media, gone = stored(bridge, png()), stored(bridge, png())
    bridge.media.remove([gone.id])
    used = [link_to(web, bridge, media), link_to(web, bridge, media, 4_000), link_to(web, bridge, gone)]
    assert [get(link).status_code for link in used] == [200, 410, 404]
    log = web.log.read_text()
    assert "media_link_used" in log
    assert media.id in log
    assert "gAAAA" not in log
    assert not [link for link in used if link.partition("/media/")[2][:30] in log]


def test_a_picture_reaches_fastgpt_by_a_link_that_it_fetches_and_the_person_is_answered(
    web: WebProcess, world: World, bridge: Bridge
) -> None:
    world.control.set_options(world.bot_id, hold_seconds=0.02)
    quick = using(setting(world, "poll", polls_per_task=1), unfinished=Unfinished(), media_links=links(web))
    http = EngineHttp(pool_maxsize=2)
    with EngineSimulator() as fastgpt:
        asking = at_the_cdn(using(quick, engines={"echo": Maker(fastgpt.base_url, http).make("fastgpt")}))
        turn = sent(asking, text("这是什么？"), image(asking, png()), document(asking, pdf(), "计划.pdf"))
        asking.answer(turn)
        http.close()
        fetched = fastgpt.fetched
    assert [(each.status, each.data, each.promised) for each in fetched] == [
        (200, png(), str(len(png()))),
        (200, pdf(), str(len(pdf()))),
    ]
    assert [each.headers["content-type"] for each in fetched] == ["image/png", "application/pdf"]
    assert asking.delivered() == ["这是什么？\n[图片]\n[文件 计划.pdf]"]


@pytest.mark.slow
def test_while_the_ledger_is_away_it_says_to_try_again_and_keeps_nobody_else_waiting(
    urls: tuple[str, str], repository: Path, tmp_path: Path, bridge: Bridge
) -> None:
    with MongoServer(tmp_path / "mongo") as mongo:
        process = WebProcess(repository, tmp_path, (urls[0], mongo.database_url("web")))
        process.start()
    link = link_to(process, bridge, stored(bridge, png()))
    with ThreadPoolExecutor(30) as pool:
        asked = [pool.submit(get, link) for _ in range(30)]
        while not all(each.done() for each in asked):
            began = time.monotonic()
            assert process.status("/livez") == 200
            assert time.monotonic() - began < 1
            assert get(f"{link.partition('?')[0]}x").status_code == 404, "a forgery costs the ledger nothing"
    assert {(each.result().status_code, each.result().headers["Retry-After"]) for each in asked} == {(503, "5")}
    process.kill()
    assert "gAAAA" not in process.log.read_text()
