"""`wechat-bridge up` and `wechat-bridge demo`; what they need beyond the bridge itself is loaded only for them."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from typing import Annotated, Any

import typer

from wechat_bridge.errors import NotConfigured
from wechat_bridge.local.binaries import INSTALL


def up() -> None:
    """Run the whole bridge on this machine until Ctrl-C: Redis, MongoDB and every process, restarted when they end.

    Data, logs and the key of the stored credentials are in ~/.wechat-bridge (WECHAT_BRIDGE_DATA_DIR moves it). With
    REDIS_URL or MONGODB_URL set, those servers are used and none is started. Other commands, in another terminal, find
    the servers and the settings of the running `up`, engines included.
    """
    _load("up").run()


class DemoChannel(StrEnum):
    """Which platform the demo simulates."""

    ILINK = "ilink"  # personal WeChat
    WECOM = "wecom"  # an app of WeCom


def demo(
    once: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Send this one message, print the answer, end.")
    ] = None,
    channel: Annotated[
        DemoChannel, typer.Option(help="ilink: a personal account. wecom: an app of a company (企业微信).")
    ] = DemoChannel.ILINK,
) -> None:
    """Try the bridge without a WeChat account: everything of `up`, a simulated WeChat, and you are its user.

    Uses a temporary folder and leaves nothing behind.
    """
    _load("demo").run(once, channel.value)


def _load(name: str) -> Any:
    try:
        return import_module(f"wechat_bridge.cli.{name}")
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise NotConfigured(f"the package {package} is missing: run {INSTALL}") from None
