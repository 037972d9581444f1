"""The door to personal WeChat: long polls and sends of one account at a time."""

from __future__ import annotations

from wechat_bridge.channels.base import PollAnswer, PollCut
from wechat_bridge.channels.http import CallCut, HttpClient, ReadTimedOut
from wechat_bridge.channels.ilink import wire
from wechat_bridge.channels.ilink.answers import body_of
from wechat_bridge.channels.ilink.lenient import storable
from wechat_bridge.channels.ilink.send import send_item
from wechat_bridge.channels.ilink.typing import IlinkTyping
from wechat_bridge.channels.ilink.updates import LONGEST_HOLD_SECONDS, parse_updates
from wechat_bridge.model.channel import Account

_CONNECT_SECONDS = 5.0
_HOLD_SLACK_SECONDS = 10.0  # a timeout equal to the hold loses the race every time (issues 75 and 267)


class IlinkDoor:
    """Speaks iLink for any account, from any thread.

    ``default_hold_seconds`` is how long a server is taken to hold a poll before it has said so, ``poll_total_seconds``
    what a poll may take in all, whatever the server sends.
    """

    def __init__(
        self, http: HttpClient, *, default_hold_seconds: float = 35.0, poll_total_seconds: float = 120.0
    ) -> None:
        self._http = http
        self._typing = IlinkTyping(http)
        self._default_hold_seconds = default_hold_seconds
        self._poll_total_seconds = poll_total_seconds

    def poll(self, account: Account, cursor: str, hold_hint_seconds: float | None) -> PollAnswer:
        """Wait for messages after ``cursor``; see PollingDoor.

        The read timeout is the hold the server announced plus 10 s.
        """
        try:
            answer = self._http.post_json(
                wire.url_of(account.base_url, wire.GET_UPDATES),
                {"get_updates_buf": cursor, "base_info": wire.base_info()},
                wire.post_headers(account.token),
                connect_seconds=_CONNECT_SECONDS,
                read_seconds=self._read_seconds(hold_hint_seconds or self._default_hold_seconds),
                total_seconds=self._poll_total_seconds,
            )
        except ReadTimedOut:
            return PollAnswer()
        except CallCut as error:
            raise PollCut(str(error)) from None
        return parse_updates(body_of(answer, "getupdates"), secrets=[account.token])

    def _read_seconds(self, hold_seconds: float) -> float:
        """Return how long to bear silence: less than the total time, so that a quiet poll is not taken for a drip."""
        most = max(self._poll_total_seconds - _CONNECT_SECONDS, self._poll_total_seconds / 2)
        return min(min(hold_seconds, LONGEST_HOLD_SECONDS) + _HOLD_SLACK_SECONDS, most)

    def send_text(self, account: Account, user_id: str, text: str, client_id: str, context_token: str) -> str | None:
        """Send one text; see PollingDoor. Every failure of the transport leaves the outcome unknown."""
        item = {"type": 1, "text_item": {"text": storable(text)}}
        return send_item(self._http, account, user_id, item, client_id, context_token)

    def set_typing(self, account: Account, user_id: str, *, is_typing: bool) -> None:
        """Show or cancel the typing indicator; see PollingDoor."""
        self._typing.set(account, user_id, is_typing=is_typing)
