"""Links by which an engine fetches media from the web process: signed, for a time, each for one piece of media.

``{PUBLIC_BASE_URL}/media/{token}?filename=file.{extension}``. The token is Fernet over the media's id, made with the
keys that also seal credentials: any host that has them can open it, nobody else can make one, and it tells nothing.
FastGPT knows a document from a picture by the extension in ``filename``, which nothing here reads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cryptography.fernet import InvalidToken, MultiFernet
from pydantic import SecretStr

from wechat_bridge.model.media import Media, extension_of
from wechat_bridge.store.vault import KEYS_NAME, cipher_of

PURPOSE = b"media:"
"""Stands before the id, so that nothing else that was sealed with these keys passes for a link."""

TOKEN_PATTERN = r"[A-Za-z0-9_-]+={0,2}"


@dataclass(frozen=True)
class OpenedLink:
    """A link that was made here: what it leads to, and whether its time is over."""

    media_id: str
    is_expired: bool


class MediaLinks:
    """Makes links and opens them. Times are the ledger's, so that hosts with wrong clocks agree."""

    def __init__(self, keys: Sequence[SecretStr], base_url: str, lifetime_seconds: int) -> None:
        """``base_url`` is where the web process is reached from outside, "" for nowhere. Raises SettingsError."""
        self._cipher = cipher_of(keys)
        self._base_url = base_url
        self._lifetime_seconds = lifetime_seconds

    @property
    def missing(self) -> str:
        """The variables that have to be set before there are links; "" when nothing is missing."""
        needed = {"PUBLIC_BASE_URL": bool(self._base_url), KEYS_NAME: self._cipher is not None}
        return " and ".join(name for name, is_there in needed.items() if not is_there)

    def link_to(self, media: Media, now: datetime) -> str:
        """Return a link to stored media, or "" where links cannot be made; ``missing`` says why."""
        if self._cipher is None or not self._base_url:
            return ""
        token = self._cipher.encrypt_at_time(PURPOSE + media.id.encode(), int(now.timestamp())).decode()
        return f"{self._base_url}/media/{token}?filename=file.{extension_of(media.label, media.mime)}"

    def opened(self, token: str, now: datetime) -> OpenedLink | None:
        """Return what a token of a link leads to, None when it was not made here. Costs the ledger nothing."""
        if self._cipher is None or not re.fullmatch(TOKEN_PATTERN, token):
            return None
        try:
            said = self._cipher.decrypt(token)
        except InvalidToken:
            return None
        if not said.startswith(PURPOSE):
            return None
        media_id = said.removeprefix(PURPOSE).decode()
        return OpenedLink(media_id, self._is_expired(self._cipher, token, now))

    def _is_expired(self, cipher: MultiFernet, token: str, now: datetime) -> bool:
        try:
            cipher.decrypt_at_time(token, self._lifetime_seconds, int(now.timestamp()))
        except InvalidToken:
            return True
        return False
