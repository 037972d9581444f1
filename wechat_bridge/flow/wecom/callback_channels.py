"""Whose callbacks are taken, as one process knows it: read seldom, and still known while the ledger is away."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from wechat_bridge.errors import DocumentInvalid, LedgerUnavailable, NotConfigured
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.wecom.app import app_of
from wechat_bridge.model import keys
from wechat_bridge.model.channel import CALLED_KINDS, Channel
from wechat_bridge.model.wecom import WecomAccount, WecomSettings
from wechat_bridge.observe import alerts
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.ledger import patience

log = logger(__name__)

LIFETIME_SECONDS = 5.0
"""How soon a change of an operator counts, and how seldom a busy channel is read."""

READ_SECONDS = 0.5
"""An answer is due within seconds; what was known before is better than to wait for the ledger."""

MOST_STRANGERS = 1_000
"""Names that are no channel are remembered, too, but nobody can fill the memory with them."""


@dataclass(frozen=True)
class CallbackChannel:
    """A channel with what is needed to open its callbacks."""

    channel: Channel
    settings: WecomSettings
    account: WecomAccount


class CallbackChannels:
    """The channels of one process that are called; from any thread."""

    def __init__(self, bridge: Bridge, lifetime_seconds: float = LIFETIME_SECONDS) -> None:
        self._bridge = bridge
        self._lifetime_seconds = lifetime_seconds
        self._known: dict[str, tuple[CallbackChannel, float]] = {}
        self._strangers: dict[str, float] = {}
        self._lock = threading.Lock()

    def load(self) -> None:
        """Read them all, so that none is a stranger if the ledger goes away. Raises LedgerUnavailable."""
        try:
            channels = self._bridge.channels.of_kinds(CALLED_KINDS)
        except DocumentInvalid as error:
            # They are read one by one when they are called.
            log.warning("callback_channels_not_loaded", error=str(error))
            return
        for channel in channels:
            self._remember(channel.id, self._opened(channel))

    def get(self, share_id: str) -> CallbackChannel | None:
        """Return a channel, or None for a name that takes no callbacks.

        Raises LedgerUnavailable when nothing is known of it and the ledger is away.
        """
        now = time.monotonic()
        with self._lock:
            known, read_at = self._known.get(share_id, (None, self._strangers.get(share_id)))
            if read_at is not None and now - read_at < self._lifetime_seconds:
                return known
            if known is not None:
                self._known[share_id] = (known, now)  # whoever else comes meanwhile need not read it as well
        return self._read(share_id, known) if keys.is_share_id(share_id) else None

    def _read(self, share_id: str, known: CallbackChannel | None) -> CallbackChannel | None:
        try:
            with patience(READ_SECONDS):
                found = self._opened(self._bridge.channels.get(share_id))
        except DocumentInvalid as error:
            self._tell_unusable(share_id, error)
            found = None
        except LedgerUnavailable:
            if known is None:
                raise
            return known
        self._remember(share_id, found)
        return found

    def _opened(self, channel: Channel | None) -> CallbackChannel | None:
        if channel is None or channel.kind not in CALLED_KINDS or channel.sealed_account is None:
            return None
        try:
            opened = CallbackChannel(channel, *app_of(self._bridge, channel))
        except (NotConfigured, DocumentInvalid) as error:
            self._tell_unusable(channel.id, error)
            return None
        alerts.clear("channel_unusable", channel.id)
        return opened

    def _tell_unusable(self, share_id: str, error: NotConfigured | DocumentInvalid) -> None:
        alerts.raise_("channel_unusable", share_id, f"its callbacks are refused: {error}")

    def _remember(self, share_id: str, found: CallbackChannel | None) -> None:
        now = time.monotonic()
        with self._lock:
            if found is not None:
                self._known[share_id] = (found, now)
                self._strangers.pop(share_id, None)
                return
            self._known.pop(share_id, None)
            if len(self._strangers) >= MOST_STRANGERS:
                self._strangers.clear()
            self._strangers[share_id] = now
