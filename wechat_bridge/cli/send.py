"""`wechat-bridge send`: write to a person who has written before."""

from __future__ import annotations

import secrets
import time
from typing import Annotated

import typer

from wechat_bridge.cli.console import tell
from wechat_bridge.cli.session import connected, valid_share_id
from wechat_bridge.errors import NoticeRefused
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.people.notice import send_notice
from wechat_bridge.model.turn import TurnState

WAIT_SECONDS = 20.0
LOOK_SECONDS = 0.2


def send(
    share_id: Annotated[str, typer.Argument(parser=valid_share_id, metavar="SHARE_ID", help="The channel.")],
    user_id: Annotated[str, typer.Argument(help="The WeChat user, as in the inbox: ...@im.wechat")],
    text: Annotated[str, typer.Argument(help="What to say.")],
    notice_id: Annotated[
        str, typer.Option("--id", help="Your own id for it: the same id again sends nothing twice.")
    ] = "",
) -> None:
    """Send a person a message that nobody asked for; WeChat allows few, and only to who wrote within a day."""
    with connected() as wired:
        turn_id = send_notice(wired.bridge, share_id, user_id, text, notice_id or secrets.token_hex(8))
        tell(f"stored as {turn_id}")
        tell(_what_became_of(wired.bridge, turn_id))


def _what_became_of(bridge: Bridge, turn_id: str) -> str:
    """Wait a little for the workers; say how it stands. Raises NoticeRefused when it was given up."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        turn = bridge.turns.get(turn_id)
        if turn is not None and turn.state is TurnState.SENT:
            return "sent"
        if turn is not None and turn.state is TurnState.PARKED:
            return f"it waits ({turn.park_reason}) and goes out by itself when that person writes or the login is back"
        if turn is not None and turn.state is TurnState.DEAD:
            raise NoticeRefused(f"{turn_id} was given up: {turn.error}; see wechat-bridge dead show {turn_id}")
        time.sleep(LOOK_SECONDS)
    return "not sent yet: it goes out as soon as a reply worker runs"
