"""The door to customers: what they said is pulled, what is answered goes to one of them at a time.

It stands beside the door of WeCom's apps because it is the same API, with the same tokens, codes and media; a package
of its own could not use them, platforms being independent of each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from wechat_bridge.channels.wecom.answers import Answer
from wechat_bridge.channels.wecom.api import WecomApi, json_bytes
from wechat_bridge.channels.wecom.kf_codes import is_repeat, kf_error_of
from wechat_bridge.channels.wecom.kf_messages import entry_of
from wechat_bridge.channels.wecom.sending import check_size
from wechat_bridge.errors import AppHeld, BridgeError, NotConfigured, PlatformBusy, PlatformUnavailable
from wechat_bridge.model.channel import Account
from wechat_bridge.model.characters import without_lone_surrogates
from wechat_bridge.model.wecom_kf import KfAccount, Page, SessionState, msgid_of

SYNC, SEND, SEND_ON_EVENT = "kf/sync_msg", "kf/send_msg", "kf/send_msg_on_event"
STATE, MOVE = "kf/service_state/get", "kf/service_state/trans"

MOST_PER_PAGE = 500
"""WeCom gives up to 1,000. All of a page is in the inbox before its cursor is, so a page should not take long."""


def kf(account: Account) -> KfAccount:
    """Return an account as one of customer service. Raises NotConfigured for any other."""
    if not isinstance(account, KfAccount):
        raise NotConfigured(f"account {account.account_id} is no customer service; set the channel up again")
    return account


class KfDoor:
    """Pulls and sends for any account, from any thread.

    Besides what SendingDoor says, sending raises SessionNotOurs while a human serves the customer, SendBudgetExhausted
    beyond five messages or 48 hours, and BrokerUnavailable where Redis is away and no good access token is known.
    ``api`` is what it calls.
    """

    def __init__(self, api: WecomApi) -> None:
        self.api = api

    def pull(self, account: KfAccount, cursor: str, event_token: str, now: datetime) -> tuple[Page, bool]:
        """Return what was said after ``cursor`` ("": within three days), and whether ``event_token`` was any good.

        Without the token of a doorbell WeCom lets an account be read only a few times a minute. One that it does not
        take is left out at once. Raises what ``kf_error_of`` returns; ContentRefused may be about the cursor.
        """
        answer = self._sync(account, cursor, event_token)
        is_good = bool(event_token) and not _may_be_the_token(answer)
        if event_token and not is_good:
            answer = self._sync(account, cursor, "")
        if answer.code:
            raise kf_error_of(answer, SYNC)
        return page_of(answer, now), is_good

    def send_text(self, account: Account, user_id: str, text: str, client_id: str, context_token: str) -> str | None:
        """Send one text of at most 2,048 bytes; see SendingDoor. ``context_token`` means nothing here."""
        content = without_lone_surrogates(text)
        check_size(content)
        return self.send(kf(account), user_id, "text", {"content": content}, client_id)

    def send(
        self, account: KfAccount, user_id: str, msgtype: str, content: Mapping[str, Any], client_id: str
    ) -> str | None:
        """Send one message, once however often it is sent under the same ``client_id``; return its msgid."""
        msgid = msgid_of(client_id)
        named = {"touser": user_id, "open_kfid": account.open_kfid, "msgid": msgid}
        answer = self.api.ask(account, SEND, json_bytes(named | {"msgtype": msgtype, msgtype: dict(content)}))
        return self._accepted(answer, SEND, msgid)

    def send_on_event(self, account: KfAccount, code: str, text: str, client_id: str) -> None:
        """Say something with the code of an event, which is good once and for some seconds, whoever has the session.

        It counts for no budget.
        """
        msgid = msgid_of(client_id)
        content = {"content": without_lone_surrogates(text)}
        body = {"code": code, "msgid": msgid, "msgtype": "text", "text": content}
        self._accepted(self.api.ask(account, SEND_ON_EVENT, json_bytes(body)), SEND_ON_EVENT, msgid)

    def session_state(self, account: KfAccount, user_id: str) -> SessionState:
        """Return who has the session of a customer. Raises PlatformUnavailable for a state that nobody knows."""
        state = self._of_session(account, STATE, user_id).fields.get("service_state")
        if state not in list(SessionState):
            raise PlatformUnavailable(f"WeCom answered {STATE} with the state {state!r:.20}; it is tried again")
        return SessionState(int(state))

    def move_session(self, account: KfAccount, user_id: str, state: SessionState, servicer_userid: str = "") -> str:
        """Give the session of a customer to others; return the code by which one thing more can be said, or "".

        Raises what ``kf_error_of`` returns, SessionNotOurs where WeCom allows no such change.
        """
        wanted: dict[str, Any] = {"service_state": int(state)}
        wanted |= {"servicer_userid": servicer_userid} if servicer_userid else {}
        return self._of_session(account, MOVE, user_id, wanted).text("msg_code")

    def _of_session(
        self, account: KfAccount, call: str, user_id: str, wanted: Mapping[str, Any] = MappingProxyType({})
    ) -> Answer:
        body = {"open_kfid": account.open_kfid, "external_userid": user_id, **wanted}
        answer = self.api.ask(account, call, json_bytes(body))
        if answer.code:
            raise kf_error_of(answer, call)
        return answer

    def set_typing(self, account: Account, user_id: str, *, is_typing: bool) -> None:
        """Do nothing: customers are shown no sign that an answer is being worked on."""

    def _accepted(self, answer: Answer, call: str, msgid: str) -> str:
        if is_repeat(answer):
            return msgid
        if answer.code:
            raise kf_error_of(answer, call)
        return answer.text("msgid") or msgid

    def _sync(self, account: KfAccount, cursor: str, event_token: str) -> Answer:
        chosen = {"cursor": cursor, "token": event_token}
        body: dict[str, Any] = {name: value for name, value in chosen.items() if value}
        body |= {"limit": MOST_PER_PAGE, "voice_format": 0, "open_kfid": account.open_kfid}
        return self.api.ask(account, SYNC, json_bytes(body))


def page_of(answer: Answer, now: datetime) -> Page:
    """Read an answer of ``kf/sync_msg``. Whatever it holds, what can be stored comes out."""
    found = answer.fields.get("msg_list")
    listed = found if isinstance(found, list) else []
    first = int(now.timestamp() * 1000) * 1000
    entries = tuple(entry_of(each, first + at, now) for at, each in enumerate(listed))
    return Page(entries, answer.text("next_cursor"), answer.fields.get("has_more") in (1, True))


def _may_be_the_token(answer: Answer) -> bool:
    """Whether a refusal may be about the event token: it is not when it is about the app, or asks for a pause."""
    if not answer.code:
        return False
    error: BridgeError = kf_error_of(answer, SYNC)
    return not isinstance(error, AppHeld | PlatformBusy)
