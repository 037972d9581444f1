"""Begin a QR login, or join the one that is in progress."""

from __future__ import annotations

from wechat_bridge.errors import LoginFailed, PlatformUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.login.step import known_channel, login_door, take_step
from wechat_bridge.model import keys
from wechat_bridge.model.channel import Account
from wechat_bridge.model.login import QrLogin
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.clock import boot_seconds

log = logger(__name__)

FIRST_CODE_SECONDS = 30.0
LOOK_SECONDS = 0.1


def start_login(bridge: Bridge, share_id: str, api_base: str = "") -> QrLogin:
    """Return a channel's login in progress with its code to scan, begun now unless there is one.

    ``api_base`` is where codes come from, by default that of the settings; a login from elsewhere is replaced. The
    channel goes on with the account it has until the new one is confirmed. Raises ChannelUnknown, NotConfigured (no QR
    login, or no key to encrypt with), LoginFailed, PlatformUnavailable, LedgerUnavailable and BrokerUnavailable.
    """
    login_door(bridge, known_channel(bridge, share_id))
    # Without a key the account could not be stored: find out before the person scans.
    bridge.channels.vault.seal(Account(token="", account_id="", base_url=""))
    settings, now = bridge.settings.login, bridge.clock.now()
    base = api_base or settings.api_base
    new = QrLogin(
        id=keys.new_token(),
        share_id=share_id,
        api_base=base,
        base_url=base,
        ends_at=bridge.clock.after(settings.whole_seconds),
        next_at=now,
    )
    if bridge.logins.open(new, ring_at=now):
        log.info("login_started", share_id=share_id, login_id=new.id)
    return _with_code(bridge, share_id)


def _with_code(bridge: Bridge, share_id: str) -> QrLogin:
    """Return the login once it has a code, which is fetched here unless another process is just doing so."""
    until = boot_seconds() + FIRST_CODE_SECONDS
    while boot_seconds() < until:
        login = current_login(bridge, share_id)
        if login.link or login.has_ended:
            return login
        if bridge.clock.now() < login.next_at:
            bridge.stopping.wait(LOOK_SECONDS)
        else:
            take_step(bridge, share_id, login.id, login.step)
    raise PlatformUnavailable(f"no QR code for channel {share_id} within {FIRST_CODE_SECONDS:.0f} s; try again")


def current_login(bridge: Bridge, share_id: str) -> QrLogin:
    """Return the login of a channel. Raises LoginFailed when there is none, or when it has failed."""
    login = bridge.logins.get(share_id)
    if login is None:
        raise LoginFailed(f"no login of channel {share_id} is in progress; start one: wechat_bridge.relogin")
    if login.has_ended and login.note:
        raise LoginFailed(f"channel {share_id}: {login.note}")
    return login
