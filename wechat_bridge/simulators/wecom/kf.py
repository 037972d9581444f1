"""The customer service calls: pulling messages, sending, and the state of sessions."""

from __future__ import annotations

import re

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.call import Call
from wechat_bridge.simulators.wecom.codes import ApiError
from wechat_bridge.simulators.wecom.content import seen_content, seen_menu
from wechat_bridge.simulators.wecom.identifiers import random_text
from wechat_bridge.simulators.wecom.kf_account import (
    BOT,
    HUMAN,
    NEW,
    TRANSITIONS,
    Customer,
    KfAccount,
    read_cursor,
    write_cursor,
)
from wechat_bridge.simulators.wecom.limits import MINUTE_SECONDS
from wechat_bridge.simulators.wecom.screen import Shown

MOST_PER_PAGE = 1_000
MSGID = re.compile(r"[0-9A-Za-z_-]{1,32}")


def sync_msg(call: Call) -> Json:
    """``POST kf/sync_msg``. A page may be short, or empty, while ``has_more`` is 1."""
    world, body, now = call.world, call.json(), call.world.now()
    account = account_of(call, body)
    _check_event_token(call, account, str(body.get("token") or ""))
    limit = body.get("limit") or MOST_PER_PAGE
    if not isinstance(limit, int) or not 1 <= limit <= MOST_PER_PAGE:
        raise ApiError(40058, "limit")
    begin, empty_pages = read_cursor(account, str(body.get("cursor") or ""), now)
    if begin < len(account.log) and empty_pages < world.options.kf_empty_pages:
        return {"next_cursor": write_cursor(begin, empty_pages + 1), "has_more": 1, "msg_list": []}
    page = account.log[begin : begin + min(limit, world.options.kf_page_size)]
    end = begin + len(page)
    return {"next_cursor": write_cursor(end, 0), "has_more": int(end < len(account.log)), "msg_list": page}


def send_msg(call: Call) -> Json:
    """``POST kf/send_msg``: only in states 0 and 1, five times within 48 hours of a customer's message."""
    body = call.json()
    account = account_of(call, body)
    customer = account.customers.get(str(body.get("touser") or ""))
    if customer is None:
        raise ApiError(40096)
    if customer.state not in {NEW, BOT}:
        raise ApiError(95018)
    return _send(call, account, customer, body)


def send_msg_on_event(call: Call) -> Json:
    """``POST kf/send_msg_on_event``: with the code of an event, once, within 20 s; not counted among the five."""
    body, now = call.json(), call.world.now()
    code = str(body.get("code") or "")
    for account in _accounts(call):
        if code in account.codes:
            external_userid, until = account.codes[code]
            if now > until:
                break
            msgid = _show(call, account, external_userid, body)
            del account.codes[code]
            return {"msgid": msgid}
    raise ApiError(40058, "code")


def get_state(call: Call) -> Json:
    """``POST kf/service_state/get``."""
    body = call.json()
    customer = _customer(account_of(call, body), body)
    servicer = {"servicer_userid": customer.servicer_userid} if customer.servicer_userid else {}
    return {"service_state": customer.state, **servicer}


def change_state(call: Call) -> Json:
    """``POST kf/service_state/trans``."""
    body, now = call.json(), call.world.now()
    account = account_of(call, body)
    customer, wanted = _customer(account, body), body.get("service_state")
    if not isinstance(wanted, int) or wanted not in TRANSITIONS.get(customer.state, ()):
        raise ApiError(95016)
    if wanted == HUMAN and not body.get("servicer_userid"):
        raise ApiError(40058, "servicer_userid")
    customer.state, customer.servicer_userid = wanted, str(body.get("servicer_userid") or "")
    return {"msg_code": account.new_code(customer.external_userid, now)}


def list_accounts(call: Call) -> Json:
    """``POST kf/account/list``."""
    return {"account_list": [{"open_kfid": kf.open_kfid, "name": kf.name, "avatar": ""} for kf in _accounts(call)]}


def contact_way(call: Call) -> Json:
    """``POST kf/add_contact_way``: where customers open the conversation."""
    account = account_of(call, call.json())
    return {"url": f"https://work.weixin.qq.com/kfid/kfc{account.open_kfid[2:]}"}


def account_of(call: Call, body: Json) -> KfAccount:
    """The account a call is about.

    Raises:
        ApiError: 48002 the app may not use customer service, 95000 no such account, 48007 not the app's.
    """
    if not call.app.may_use_kf:
        raise ApiError(48002)
    account = call.world.kf_accounts.get(str(body.get("open_kfid") or ""))
    if account is None:
        raise ApiError(95000)
    if account.app != call.app.key:
        raise ApiError(48007)
    return account


def _accounts(call: Call) -> list[KfAccount]:
    return [account for account in call.world.kf_accounts.values() if account.app == call.app.key]


def _customer(account: KfAccount, body: Json) -> Customer:
    customer = account.customers.get(str(body.get("external_userid") or ""))
    if customer is None:
        raise ApiError(40096)
    return customer


def _check_event_token(call: Call, account: KfAccount, token: str) -> None:
    now, limit = call.world.now(), call.world.options.kf_pulls_without_token
    if token and account.event_tokens.get(token, 0.0) <= now:
        raise ApiError(95007)
    if not token and call.world.limits.exceeded(("kf", account.open_kfid), limit, MINUTE_SECONDS, now):
        raise ApiError(45009)


def _send(call: Call, account: KfAccount, customer: Customer, body: Json) -> Json:
    fail_type, now = customer.fail_type(call.world.now()), call.world.now()
    if fail_type and call.world.options.kf_over_limit == "refuse":
        raise ApiError(95002 if fail_type == 4 else 95001)
    if fail_type:
        msgid = _new_msgid(account, body)
        call.outcomes[customer.external_userid] = f"failed: fail_type {fail_type}"
        account.add_event(now, "msg_send_fail", customer.external_userid, fail_msgid=msgid, fail_type=fail_type)
        call.ring(account)
        return {"msgid": msgid}
    msgid = _show(call, account, customer.external_userid, body)
    customer.replies += 1
    return {"msgid": msgid}


def _show(call: Call, account: KfAccount, external_userid: str, body: Json) -> str:
    world, app, now = call.world, call.app, call.world.now()
    if body.get("msgtype") == "msgmenu":
        text, content = seen_menu(body.get("msgmenu"))
    else:
        text, content = seen_content(
            body,
            world.options.over_long_text,
            lambda kind, media_id: world.media.find(app.corp_id, media_id, now, kind),
        )
    msgid = _new_msgid(account, body)
    world.screen.show(Shown(now, app.key, external_userid, "kf", str(body["msgtype"]), text, content, msgid))
    call.outcomes[external_userid] = "shown"
    return msgid


def _new_msgid(account: KfAccount, body: Json) -> str:
    msgid = str(body.get("msgid") or random_text(32))
    if not MSGID.fullmatch(msgid):
        raise ApiError(40058, "msgid")
    # The number of this refusal is not published; that there is one makes msgid an idempotency key.
    if msgid in account.used_msgids:
        raise ApiError(40058, "msgid is used already")
    account.used_msgids.add(msgid)
    return msgid
