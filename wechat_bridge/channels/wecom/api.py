"""One call of WeCom's API: a token, the request, its errcode, and one more try with a new token where that helps."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.wecom import codes
from wechat_bridge.channels.wecom.answers import Answer, answer_of
from wechat_bridge.channels.wecom.download import Gate
from wechat_bridge.channels.wecom.tokens import CONNECT_SECONDS, AccessTokens, ask_token, url_of
from wechat_bridge.errors import NotConfigured
from wechat_bridge.model.channel import Account
from wechat_bridge.model.wecom import WecomAccount

JSON = "application/json; charset=utf-8"
CALL_SECONDS = 10.0
_READ_SECONDS = 15.0


def wecom(account: Account) -> WecomAccount:
    """Return an account as one of WeCom. Raises NotConfigured for any other."""
    if not isinstance(account, WecomAccount):
        raise NotConfigured(f"account {account.account_id} is no app of WeCom; set the channel up again")
    return account


def json_bytes(body: Mapping[str, Any]) -> bytes:
    """Return a body as WeCom wants it: UTF-8 as it is, for a body of escapes is refused (40033)."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


class WecomApi:
    """Calls WeCom for any app, from any thread. ``call_seconds`` is what one request may take.

    Every method raises PlatformUnavailable when the transport fails (what WeCom did is unknown then), and what
    AccessTokens raises.
    """

    def __init__(self, http: HttpClient, tokens: AccessTokens, *, call_seconds: float = CALL_SECONDS) -> None:
        self._http = http
        self._tokens = tokens
        self._call_seconds = call_seconds

    def ask(
        self,
        account: WecomAccount,
        call: str,
        body: bytes,
        *,
        content_type: str = JSON,
        query: Mapping[str, str] = MappingProxyType({}),
        total_seconds: float | None = None,
    ) -> Answer:
        """Make a call (``message/send``, say) and return its answer, whatever its errcode is.

        ``total_seconds`` (default: ``call_seconds``) is for each request; renewing the token comes on top.
        """
        seconds = total_seconds or self._call_seconds

        def exchange(token: str) -> Answer:
            answer = self._http.through(account.proxy).post_bytes(
                url_of(account, call, {"access_token": token, **query}),
                body,
                {"Content-Type": content_type},
                connect_seconds=CONNECT_SECONDS,
                read_seconds=seconds,
                total_seconds=seconds,
            )
            return answer_of(answer, call, (token, *account.secrets))

        return self._with_token(account, exchange)

    def download(
        self,
        account: WecomAccount,
        call: str,
        query: Mapping[str, str],
        sink: Callable[[bytes], object],
        *,
        most_bytes: int,
        total_seconds: float,
    ) -> None:
        """Hand the file that a call answers to ``sink``; what that got counts only when this returns.

        Raises what ``codes.error_of`` returns, BodyTooLarge and DeadlineExceeded besides, and what ``sink`` raises.
        """

        def exchange(token: str) -> Answer:
            gate = Gate(sink)
            answer = self._http.through(account.proxy).download(
                url_of(account, call, {"access_token": token, **query}),
                gate.take,
                most_bytes=most_bytes,
                read_seconds=min(_READ_SECONDS, total_seconds),
                total_seconds=total_seconds,
            )
            return gate.close(answer, call, (token, *account.secrets))

        good(self._with_token(account, exchange), call)

    def _with_token(self, account: WecomAccount, exchange: Callable[[str], Answer]) -> Answer:
        """Make a call with a token; once more with another if that one is not good (field report 15)."""
        token = self._token(account)
        answer = exchange(token)
        if answer.code in codes.TOKEN:
            answer = exchange(self._token(account, token))
        return answer

    def _token(self, account: WecomAccount, refused: str = "") -> str:
        ask = partial(ask_token, self._http, account)
        return self._tokens.get(account.corp_id, str(account.agent_id), account.mark, ask, refused)


def good(answer: Answer, call: str) -> Answer:
    """Return an answer whose errcode is 0. Raises what ``codes.error_of`` returns for any other."""
    if answer.code:
        raise codes.error_of(answer.code, answer.errmsg, call)
    return answer
