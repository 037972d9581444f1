"""`wechat-bridge channel login`."""

from __future__ import annotations

from typing import Annotated

import typer

from wechat_bridge.cli.console import print_light_on_dark, tell
from wechat_bridge.cli.qr_login import LoginWatch, Screen
from wechat_bridge.cli.session import connected, valid_share_id
from wechat_bridge.flow.login.start import start_login
from wechat_bridge.flow.login.view import drawing
from wechat_bridge.wiring import Wired


class Terminal:
    """The person at this terminal."""

    def show_code(self, link: str) -> None:
        """Draw the QR code, and print what is in it."""
        print_light_on_dark(drawing(link))
        tell(f"or open this link as a QR code elsewhere: {link}")

    def say(self, line: str) -> None:
        """Print a line."""
        tell(line)

    def ask_number(self) -> str:
        """Ask for the number that the phone shows."""
        return str(typer.prompt("number", err=True)).strip()


def login(
    share_id: Annotated[str, typer.Argument(parser=valid_share_id, metavar="SHARE_ID", help="The channel.")],
    api_base: Annotated[
        str, typer.Option(help="Where WeChat's iLink API is, if not where WECHAT_BRIDGE_LOGIN__API_BASE says.")
    ] = "",
) -> None:
    """Log a WeChat account in by QR code: shows the code, waits for the scan (8 minutes at most), starts receiving.

    A login in progress is joined. The channel's login before this one ends. Replies that waited for a login go out.
    """
    with connected() as wired:
        log_in(wired, share_id, api_base, Terminal())
    tell(f"channel {share_id} is online")


def log_in(wired: Wired, share_id: str, api_base: str, screen: Screen) -> None:
    """Log a channel in through the QR calls. Raises what start_login and LoginWatch.follow raise."""
    LoginWatch(wired.bridge, screen).follow(start_login(wired.bridge, share_id, api_base))
