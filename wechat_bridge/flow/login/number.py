"""Submit the number that the phone shows during a QR login."""

from __future__ import annotations

import re

from wechat_bridge.errors import LoginFailed
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.login.start import LOOK_SECONDS, current_login
from wechat_bridge.flow.login.step import known_channel
from wechat_bridge.model.login import WRONG_NUMBER, LoginPhase, QrLogin
from wechat_bridge.store.clock import boot_seconds

_NUMBER = re.compile(r"[0-9]{1,12}", re.ASCII)
VERDICT_SECONDS = 10.0


def submit_number(bridge: Bridge, share_id: str, number: str) -> QrLogin:
    """Keep a number for the next question to WeChat; return the login it was given to.

    Raises ChannelUnknown, LoginFailed (no login in progress, no number asked for, or no number) and BrokerUnavailable.
    """
    known_channel(bridge, share_id)
    if not _NUMBER.fullmatch(number):
        raise LoginFailed("the code should be the number that the phone shows, digits only")
    login = current_login(bridge, share_id)
    if login.phase is not LoginPhase.NUMBER:
        raise LoginFailed(f"channel {share_id}: WeChat asks for no number just now; {login.instruction}")
    if not bridge.logins.submit_number(share_id, login.id, number):
        raise LoginFailed(f"channel {share_id}: the login has just ended; start a new one")
    return login


def wait_for_verdict(bridge: Bridge, login: QrLogin) -> QrLogin:
    """Return the login once WeChat has judged the number, or as it is after 10 s. Raises LoginFailed if it is wrong."""
    until = boot_seconds() + VERDICT_SECONDS
    while boot_seconds() < until:
        found = current_login(bridge, login.share_id)
        if not found.number or found.id != login.id:
            break
        bridge.stopping.wait(LOOK_SECONDS)
    if found.phase is LoginPhase.NUMBER and not found.number and found.note == WRONG_NUMBER:
        raise LoginFailed(f"channel {login.share_id}: {WRONG_NUMBER}; submit the one that the phone shows now")
    return found
