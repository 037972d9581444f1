"""Two iLink clients from PyPI against the simulator: each receives one text and replies once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from wechat_bridge.simulators.ilink import IlinkControl

USER = "oTESTuser0000000000000000001@im.wechat"


def test_weilink_receives_a_text_and_a_picture_and_replies_to_both(
    control: IlinkControl, peer_module: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    weilink = peer_module("weilink")
    bot, file = control.create_bot(), control.put_media(b"picture")
    (tmp_path / "default").mkdir()
    token = {"bot_id": bot["bot_id"], "token": bot["token"], "base_url": bot["base_url"], "user_id": bot["user_id"]}
    (tmp_path / "default" / "token.json").write_text(json.dumps({**token, "cursor": ""}))
    [text_id] = control.say(bot["bot_id"], USER, "hi")
    control.send_items(bot["bot_id"], USER, [{"type": 2, "image_item": {"media": file["media"]}}])
    with weilink.WeiLink(base_path=tmp_path) as client:
        text, picture = client.recv(timeout=5)
        assert (text.text, str(text.message_id)) == ("hi", text_id)
        assert client.download(picture) == b"picture"
        client.send(USER, "hello")
        client.send(USER, image=b"another picture")
    reply, image = control.deliveries(USER)
    assert (reply["text"], reply["refused"], image["media_readable"]) == ("hello", "", True)


def test_openilink_receives_a_text_and_replies(control: IlinkControl, peer_module: Callable[[str], ModuleType]) -> None:
    openilink, monitor = peer_module("openilink"), peer_module("openilink.monitor")
    bot = control.create_bot()
    control.set_options(bot["bot_id"], hold_seconds=0.2)
    client = openilink.Client(bot["token"], base_url=bot["base_url"], cdn_base_url=f"{bot['base_url']}/c2c")
    heard: list[str] = []

    def answer(message: Any) -> None:
        heard.append(message.item_list[0].text_item.text)
        client.push(message.from_user_id, "hello")
        client.stop()

    polling = threading.Thread(target=monitor.monitor, args=(client, answer))
    polling.start()
    control.say(bot["bot_id"], USER, "hi")
    delivery = control.wait_for_delivery(USER)
    polling.join(10)
    assert heard == ["hi"]
    assert delivery is not None
    assert (delivery["text"], delivery["refused"]) == ("hello", "")
