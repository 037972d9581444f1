"""The media door of personal WeChat: pictures and files from and to iLink's CDN."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from urllib.parse import urljoin, urlsplit

from wechat_bridge.channels.base import OutboundFile, Uploaded
from wechat_bridge.channels.http import BodyTooLarge, DeadlineExceeded, HttpAnswer, HttpClient
from wechat_bridge.channels.ilink.crypto import BLOCK_BYTES, Opener
from wechat_bridge.channels.ilink.origins import Origins
from wechat_bridge.channels.ilink.send import send_item
from wechat_bridge.channels.ilink.sources import source_of
from wechat_bridge.channels.ilink.upload import upload_file
from wechat_bridge.errors import MediaUnreadable, PlatformUnavailable
from wechat_bridge.model.channel import Account
from wechat_bridge.model.media import Problem
from wechat_bridge.model.message import ItemKind

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 3
_READ_SECONDS = 15.0
_GONE = frozenset({404, 410})


class IlinkMedia:
    """Moves media for any account, from any thread.

    ``origins`` are the addresses that may be asked (see Origins), ``most_bytes`` the largest file.
    """

    def __init__(self, http: HttpClient, *, origins: Iterable[str], cdn_base_url: str, most_bytes: int) -> None:
        self._http = http
        self._origins = Origins.of(origins)
        self._cdn_base_url = cdn_base_url
        self._most_bytes = most_bytes

    def fetch(
        self, account: Account, raw: str, position: int, sink: Callable[[bytes], object], total_seconds: float
    ) -> None:
        """Fetch part ``position`` of a message and hand it to ``sink``, decrypted; see MediaDoor.

        The message names address and key, so any ``account`` will do.
        """
        deadline = time.monotonic() + total_seconds
        source = source_of(raw, position, self._cdn_base_url)
        is_image = source.kind is ItemKind.IMAGE
        if not source.keys and not is_image:
            raise MediaUnreadable(Problem.NO_KEY)
        opener = Opener(source.keys, is_image, source.claims, sink)
        self._download(source.url, opener.feed, deadline)
        opener.finish()

    def _download(self, url: str, sink: Callable[[bytes], object], deadline: float) -> None:
        for _ in range(1 + _MOST_REDIRECTS):
            answer = self._ask(url, sink, deadline)
            if answer.status not in _REDIRECTS:
                _check_found(answer)
                return
            url = urljoin(url, answer.headers.get("location", ""))
        raise MediaUnreadable(Problem.REFUSED, "too many redirects")

    def _ask(self, url: str, sink: Callable[[bytes], object], deadline: float) -> HttpAnswer:
        """Ask for one address. Each, also one that a server redirects to, is checked before anything goes there."""
        if not self._origins.allow(url):
            raise MediaUnreadable(Problem.BAD_ADDRESS, _origin(url))
        left = deadline - time.monotonic()
        if left <= 0:
            raise MediaUnreadable(Problem.TOO_SLOW)
        most = self._most_bytes // BLOCK_BYTES * BLOCK_BYTES + BLOCK_BYTES
        try:
            return self._http.download(
                url, sink, most_bytes=most, read_seconds=min(_READ_SECONDS, left), total_seconds=left
            )
        except BodyTooLarge as error:
            raise MediaUnreadable(Problem.TOO_LARGE, str(error)) from None
        except DeadlineExceeded as error:
            raise MediaUnreadable(Problem.TOO_SLOW, str(error)) from None

    def upload(self, account: Account, user_id: str, file: OutboundFile, total_seconds: float) -> Uploaded:
        """Upload a file for a person; see MediaDoor."""
        return upload_file(
            self._http,
            account,
            user_id,
            file,
            cdn_base_url=self._cdn_base_url,
            allow=self._origins.allow,
            total_seconds=total_seconds,
        )

    def send(
        self, account: Account, user_id: str, uploaded: Uploaded, client_id: str, context_token: str
    ) -> str | None:
        """Send what was uploaded; see MediaDoor."""
        return send_item(self._http, account, user_id, dict(uploaded.item), client_id, context_token)


def _check_found(answer: HttpAnswer) -> None:
    if answer.status == 200:
        return
    if answer.status in _GONE:
        raise MediaUnreadable(Problem.NOT_FOUND, f"HTTP {answer.status}")
    if 400 <= answer.status < 500:
        raise MediaUnreadable(Problem.REFUSED, f"HTTP {answer.status}")
    raise PlatformUnavailable(f"the CDN answered a download with HTTP {answer.status}; it is tried again")


def _origin(url: str) -> str:
    """Name an address for the operator without what may be secret in it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that cannot be read"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"[:200]
