"""The media door of WeCom: files up, to be sent under an id that is good for three days, and files down by theirs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from wechat_bridge.channels.base import OutboundFile, Uploaded
from wechat_bridge.channels.http import BodyTooLarge, DeadlineExceeded
from wechat_bridge.channels.wecom.api import WecomApi, good, wecom
from wechat_bridge.channels.wecom.items import media_id_of
from wechat_bridge.channels.wecom.sending import send
from wechat_bridge.channels.wecom.upload import mark_of, multipart, type_of
from wechat_bridge.errors import (
    AppHeld,
    BrokerUnavailable,
    MediaExpired,
    MediaRefused,
    MediaUnreadable,
    PlatformUnavailable,
    TransientError,
)
from wechat_bridge.model.channel import Account
from wechat_bridge.model.media import Problem
from wechat_bridge.model.wecom import WecomAccount

UPLOAD = "media/upload"
ID_SECONDS = 71 * 3600
"""An id is good for three days; one of the last hour is renewed, for a message may be on its way for a while."""


class MediaIds(Protocol):
    """Keeps the ids of uploaded files for all processes. Every method raises BrokerUnavailable."""

    def get(self, corp_id: str, agent_id: str, mark: str) -> str | None:
        """Return the id of a file that was uploaded lately."""
        ...

    def put(self, corp_id: str, agent_id: str, mark: str, media_id: str, good_seconds: float) -> None:
        """Keep the id of a file for as long as it is good."""
        ...

    def forget(self, corp_id: str, agent_id: str, mark: str, media_id: str) -> None:
        """Forget an id, unless the file has another one by now."""
        ...


class WecomMedia:
    """Moves media for any app, from any thread. ``most_bytes`` is the largest file that is fetched.

    A file that is sent again goes under the same id, so that the request is the same and WeCom notices the repeat; what
    is older than three days is uploaded anew. Without Redis it is uploaded each time.
    """

    def __init__(self, api: WecomApi, ids: MediaIds, *, most_bytes: int) -> None:
        self._api = api
        self._ids = ids
        self._most_bytes = most_bytes

    def fetch(
        self, account: Account, raw: str, position: int, sink: Callable[[bytes], object], total_seconds: float
    ) -> None:
        """Fetch the file of the message whose fields are ``raw``; see MediaDoor. A message has one part: 0."""
        media_id = self._media_id_of(_object(raw))
        if position or not media_id:
            raise MediaUnreadable(Problem.NO_ADDRESS)
        query = {"media_id": media_id}
        try:
            self._api.download(
                wecom(account), "media/get", query, sink, most_bytes=self._most_bytes, total_seconds=total_seconds
            )
        except BodyTooLarge as error:
            raise MediaUnreadable(Problem.TOO_LARGE, str(error)) from None
        except DeadlineExceeded as error:
            raise MediaUnreadable(Problem.TOO_SLOW, str(error)) from None
        except MediaExpired as error:
            raise MediaUnreadable(Problem.EXPIRED, str(error)) from None
        except (MediaRefused, AppHeld) as error:
            raise MediaUnreadable(Problem.REFUSED, str(error)) from None
        except TransientError as error:
            raise PlatformUnavailable(str(error)) from error

    def upload(self, account: Account, user_id: str, file: OutboundFile, total_seconds: float) -> Uploaded:
        """Upload a file, unless WeCom has it already; see MediaDoor. It is for anybody, whoever ``user_id`` is."""
        app = wecom(account)
        media_type = type_of(file)
        mark = mark_of(file, media_type)
        media_id = self._known(app, mark) or self._uploaded(app, file, media_type, mark, total_seconds)
        return Uploaded({"msgtype": media_type, "media_id": media_id, "mark": mark})

    def send(
        self, account: Account, user_id: str, uploaded: Uploaded, client_id: str, context_token: str
    ) -> str | None:
        """Send what was uploaded; see MediaDoor. Of an id that is not good any more the next try uploads a new one."""
        app, item = wecom(account), uploaded.item
        try:
            return self._show(app, user_id, item["msgtype"], {"media_id": item["media_id"]}, client_id)
        except MediaExpired as error:
            with suppress(BrokerUnavailable):  # then it is not kept either
                self._ids.forget(app.corp_id, str(app.agent_id), item["mark"], item["media_id"])
            raise PlatformUnavailable(f"{error}; the file is uploaded anew") from error

    def _media_id_of(self, message: dict[str, Any]) -> str:
        """Return the id of the file of a message, or ""."""
        return media_id_of(message)

    def _show(
        self, app: WecomAccount, user_id: str, msgtype: str, content: Mapping[str, Any], client_id: str
    ) -> str | None:
        """Send one message."""
        return send(self._api, app, user_id, msgtype, content, client_id)

    def _known(self, app: WecomAccount, mark: str) -> str | None:
        with suppress(BrokerUnavailable):
            return self._ids.get(app.corp_id, str(app.agent_id), mark)
        return None

    def _uploaded(self, app: WecomAccount, file: OutboundFile, media_type: str, mark: str, seconds: float) -> str:
        content_type, body = multipart(file)
        query = {"type": media_type}
        answer = self._api.ask(app, UPLOAD, body, content_type=content_type, query=query, total_seconds=seconds)
        media_id = good(answer, UPLOAD).text("media_id")
        if not media_id:
            raise PlatformUnavailable("WeCom answered media/upload without a media_id; it is tried again")
        with suppress(BrokerUnavailable):
            self._ids.put(app.corp_id, str(app.agent_id), mark, media_id, ID_SECONDS)
        return media_id


def _object(raw: str) -> dict[str, Any]:
    try:
        found: Any = json.loads(raw)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
