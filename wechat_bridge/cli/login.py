"""`wechat-bridge channel login`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from wechat_bridge.channels.ilink.wire import DEFAULT_BASE_URL
from wechat_bridge.cli.console import print_light_on_dark, tell
from wechat_bridge.cli.qr_code import drawing
from wechat_bridge.cli.qr_login import QrLogin, Screen
from wechat_bridge.cli.session import connected, valid_share_id
from wechat_bridge.errors import ChannelUnknown, NotConfigured
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.login import complete_login
from wechat_bridge.model.channel import Account
from wechat_bridge.wiring import Wired


class Terminal:
    """The person at this terminal."""

    def show_code(self, link: str) -> None:
        """Draw the QR code."""
        print_light_on_dark(drawing(link))

    def say(self, line: str) -> None:
        """Print a line."""
        tell(line)

    def ask_number(self) -> str:
        """Ask for the number that the phone shows."""
        return str(typer.prompt("number", err=True)).strip()


def login(
    share_id: Annotated[str, typer.Argument(parser=valid_share_id, metavar="SHARE_ID", help="The channel.")],
    api_base: Annotated[str, typer.Option(help="Where WeChat's iLink API is.")] = DEFAULT_BASE_URL,
) -> None:
    """Log a WeChat account in by QR code: shows the code, waits for the scan (8 minutes at most), starts receiving.

    The channel's login before this one ends. Replies that waited for a login go out.
    """
    with connected() as wired:
        log_in(wired, share_id, api_base, Terminal())
    tell(f"channel {share_id} is online")


def log_in(wired: Wired, share_id: str, api_base: str, screen: Screen) -> None:
    """Log a channel in through the QR calls. Raises what QrLogin.run and complete_login raise."""
    bridge = wired.bridge
    if bridge.channels.get(share_id) is None:
        raise ChannelUnknown(f"there is no channel {share_id}; add it first: wechat-bridge channel add {share_id}")
    # Without a key the login could not be stored: find out before the person scans.
    bridge.channels.vault.seal(Account(token="", account_id="", base_url=""))
    login = QrLogin(wired.http, screen, api_base, list(_other_tokens(bridge, share_id, api_base))).run()
    complete_login(bridge, share_id, login)


def _other_tokens(bridge: Bridge, share_id: str, api_base: str) -> Iterator[str]:
    """Yield the tokens of the other channels at this server, newest first: WeChat then tells of one that is here.

    The channel's own token stays out, so that it can always be logged in anew, and no server learns another's tokens.
    """
    others = [channel for channel in bridge.channels.all() if channel.id != share_id and channel.sealed_account]
    for channel in sorted(others, key=lambda each: str(each.login_time), reverse=True):
        try:
            account = bridge.channels.vault.open(channel.sealed_account or "")
        except NotConfigured:  # sealed with a key that is gone; that channel needs a login itself
            continue
        if account.base_url == api_base:
            yield account.token
