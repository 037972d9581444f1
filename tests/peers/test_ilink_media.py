"""Pictures uploaded by clients nobody here wrote are opened by us, and ours by them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.pictures import pdf, png
from wechat_bridge.channels.base import OutboundFile
from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.ilink.media import IlinkMedia
from wechat_bridge.channels.ilink.sources import download_url
from wechat_bridge.model.channel import Account
from wechat_bridge.model.message import ItemKind
from wechat_bridge.simulators.ilink import IlinkControl
from wechat_bridge.simulators.ilink.client import BotCredentials

from .conftest import Driver

USER = "oTESTuser0000000000000000001@im.wechat"


@pytest.fixture
def door(control: IlinkControl) -> Iterator[IlinkMedia]:
    http = HttpClient(pool_maxsize=2)
    yield IlinkMedia(http, origins=[control.base_url], cdn_base_url=f"{control.base_url}/c2c", most_bytes=1_000_000)
    http.close()


def of_ours(door: IlinkMedia, control: IlinkControl, bot: BotCredentials, kind: ItemKind, data: bytes) -> Any:
    """An item that we uploaded, with the full address that WeChat adds on the way to a client."""
    account = Account(token=bot["token"], account_id=bot["bot_id"], base_url=bot["base_url"])
    item: Any = dict(door.upload(account, USER, OutboundFile(kind, "plan.pdf", "", data), 10.0).item)
    media = item[f"{kind.value}_item"]["media"]
    media["full_url"] = download_url(f"{control.base_url}/c2c", media["encrypt_query_param"])
    return item


def opened(door: IlinkMedia, item: Any) -> bytes:
    """The bytes of an item that somebody else uploaded."""
    got: list[bytes] = []
    nobody = Account(token="", account_id="", base_url="")
    door.fetch(nobody, json.dumps({"item_list": [item]}), 0, got.append, 10.0)
    return b"".join(got)


@pytest.mark.parametrize("upload_answer", ["full_url", "param"])
def test_the_official_client_opens_our_picture_and_we_open_its_own(
    control: IlinkControl, drive: Callable[..., Driver], door: IlinkMedia, tmp_path: Path, upload_answer: str
) -> None:
    control.set_options(upload_answer=upload_answer)
    bot = control.create_bot()
    control.send_items(bot["bot_id"], USER, [of_ours(door, control, bot, ItemKind.IMAGE, png())])
    report = drive("picture.mjs", bot["base_url"], bot["token"], str(tmp_path / "picture.png")).report()
    assert report["same"] is True
    assert (tmp_path / "picture.png").read_bytes() == png()
    _, theirs = control.deliveries(USER)
    assert opened(door, theirs["item"]) == png()


def test_weilink_opens_our_files_and_we_open_its_own(
    control: IlinkControl, peer_module: Callable[[str], ModuleType], door: IlinkMedia, tmp_path: Path
) -> None:
    weilink, bot = peer_module("weilink"), control.create_bot()
    (tmp_path / "default").mkdir()
    token = {"bot_id": bot["bot_id"], "token": bot["token"], "base_url": bot["base_url"], "user_id": bot["user_id"]}
    (tmp_path / "default" / "token.json").write_text(json.dumps({**token, "cursor": ""}))
    sent = {ItemKind.IMAGE: png(), ItemKind.FILE: pdf(), ItemKind.VIDEO: png(5_000)}
    for kind, data in sent.items():
        control.send_items(bot["bot_id"], USER, [of_ours(door, control, bot, kind, data)])
    with weilink.WeiLink(base_path=tmp_path) as client:
        received = client.recv(timeout=5)
        assert [client.download(message) for message in received] == list(sent.values())
        client.send(USER, image=png(), file=pdf(), file_name="plan.pdf", video=png(7_000))
    items = [row["item"] for row in control.deliveries(USER)]
    assert sorted(len(opened(door, item)) for item in items) == [2_000, 3_000, 7_000]
    assert {opened(door, item) for item in items} == {pdf(), png(), png(7_000)}
