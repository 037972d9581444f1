"""The typing indicator of personal WeChat: a ticket per person, then "typing" and "no longer" (facts, section 7)."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.ilink import wire
from wechat_bridge.channels.ilink.answers import (
    SESSION_TIMEOUT,
    body_of,
    codes_of,
    errmsg_of,
    object_of,
    session_expired,
)
from wechat_bridge.channels.ilink.lenient import clean
from wechat_bridge.errors import PlatformUnavailable
from wechat_bridge.model.channel import Account

TICKET_SECONDS = 600.0
"""How long a ticket is used. Nobody knows how long WeChat honours one; other clients keep it for 10 min to 24 h."""

FIRST_PAUSE_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 3600.0
_MOST_TICKETS = 10_000
_CONNECT_SECONDS = 5.0
_CALL_SECONDS = 10.0
_TYPING, _CANCEL = 1, 2


@dataclass(frozen=True, slots=True)
class _Ticket:
    """A ticket and until when it is used; without one, until when none is asked for, after the last pause."""

    ticket: str
    until: float
    pause_seconds: float = 0.0


class IlinkTyping:
    """Shows and cancels the indicator, from any thread. A person for whom WeChat gives no ticket is left alone for a
    while, 2 s at first and an hour at most."""

    def __init__(self, http: HttpClient) -> None:
        self._http = http
        self._tickets: OrderedDict[tuple[str, str], _Ticket] = OrderedDict()
        self._lock = threading.Lock()

    def set(self, account: Account, user_id: str, *, is_typing: bool) -> None:
        """Show or cancel the indicator. Raises PlatformUnavailable and SessionExpired."""
        ticket = self._ticket(account, user_id)
        if ticket:
            status = _TYPING if is_typing else _CANCEL
            self._call(account, wire.SEND_TYPING, ilink_user_id=user_id, typing_ticket=ticket, status=status)

    def _ticket(self, account: Account, user_id: str) -> str:
        """Return a ticket, or "" while none is to be asked for."""
        key = (account.token, user_id)
        known = self._tickets.get(key)
        if known is not None and time.monotonic() < known.until:
            return known.ticket
        try:
            ticket = self._new_ticket(account, user_id)
        except PlatformUnavailable:
            pause = min(2 * known.pause_seconds if known else 0.0, LONGEST_PAUSE_SECONDS) or FIRST_PAUSE_SECONDS
            self._keep(key, _Ticket("", time.monotonic() + pause, pause))
            raise
        self._keep(key, _Ticket(ticket, time.monotonic() + TICKET_SECONDS))
        return ticket

    def _new_ticket(self, account: Account, user_id: str) -> str:
        # Without the context token: whether this call would use it up is disputed (facts, section 7).
        ticket = clean(self._call(account, wire.GET_CONFIG, ilink_user_id=user_id).get("typing_ticket"))
        if not ticket:
            raise PlatformUnavailable("WeChat answered getconfig without a typing_ticket")
        return ticket

    def _keep(self, key: tuple[str, str], ticket: _Ticket) -> None:
        with self._lock:
            self._tickets[key] = ticket
            self._tickets.move_to_end(key)
            while len(self._tickets) > _MOST_TICKETS:
                self._tickets.popitem(last=False)

    def _call(self, account: Account, endpoint: str, **fields: object) -> dict[str, object]:
        response = self._http.post_json(
            wire.url_of(account.base_url, endpoint),
            {**fields, "base_info": wire.base_info()},
            wire.post_headers(account.token),
            connect_seconds=_CONNECT_SECONDS,
            read_seconds=_CALL_SECONDS,
            total_seconds=_CALL_SECONDS,
        )
        name = endpoint.rpartition("/")[2]
        answer = object_of(body_of(response, name), name)
        codes = codes_of(answer, name)
        if SESSION_TIMEOUT in codes:
            raise session_expired(name)
        if codes:
            raise PlatformUnavailable(
                f"WeChat refused {name} with code {codes[0]} ({errmsg_of(answer, [account.token])})"
            )
        return answer
