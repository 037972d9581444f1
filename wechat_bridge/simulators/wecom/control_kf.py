"""Control commands of customer service: be the customer, the human who serves, and the doorbell."""

from __future__ import annotations

import time
from typing import Any

from wechat_bridge.simulators.control_errors import ControlError
from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.backstage import Backstage
from wechat_bridge.simulators.wecom.callback import Callback, Knobs
from wechat_bridge.simulators.wecom.identifiers import random_text
from wechat_bridge.simulators.wecom.kf_account import ENDED, NEW, KfAccount


def ring(stage: Backstage, account: KfAccount, knobs: Knobs | None = None) -> Callback:
    """Send the doorbell of an account: an event without FromUserName that carries a fresh event token."""
    app = stage.app(account.app)
    fields = {
        "ToUserName": app.corp_id,
        "CreateTime": int(time.time()),
        "MsgType": "event",
        "Event": "kf_msg_or_event",
        "Token": account.new_event_token(stage.world.now()),
        "OpenKfId": account.open_kfid,
    }
    callback = Callback(app.key, fields, knobs or Knobs())
    stage.sender.start(callback)
    return callback


def create_kf_account(stage: Backstage, app: str, name: str = "客服", open_kfid: str = "") -> str:
    """Make an account that an app serves; returns its open_kfid."""
    account = KfAccount(open_kfid or f"wk{random_text(30)}", stage.app(app).key, name)
    stage.world.kf_accounts[account.open_kfid] = account
    return account.open_kfid


def kf_say(stage: Backstage, open_kfid: str, external_userid: str, messages: list[Json], doorbell: bool = True) -> Any:
    """Write as a customer, then ring once; a message is ``{"msgtype": ..., "text": {...}}``. Returns the msgids."""
    account, now = kf_account_of(stage, open_kfid), stage.world.now()
    customer = account.customer(external_userid)
    customer.last_message_at, customer.replies = now, 0
    if customer.state == ENDED:
        customer.state = NEW
    ends = {"open_kfid": open_kfid, "external_userid": external_userid, "origin": 3}
    msgids = [account.add(now, **{**ends, **message}) for message in messages]
    if doorbell:
        ring(stage, account)
    return msgids


def kf_enter(stage: Backstage, open_kfid: str, external_userid: str, scene: str = "", doorbell: bool = True) -> str:
    """Open the conversation as a customer; returns the welcome_code of the event."""
    account, now = kf_account_of(stage, open_kfid), stage.world.now()
    account.customer(external_userid)
    code = account.new_code(external_userid, now)
    account.add_event(now, "enter_session", external_userid, scene=scene, scene_param="", welcome_code=code)
    if doorbell:
        ring(stage, account)
    return code


def kf_event(
    stage: Backstage, open_kfid: str, external_userid: str, event_type: str, fields: Json, doorbell: bool = True
) -> str:
    """Let any event happen, for example user_recall_msg; returns the msgid of the log entry."""
    account = kf_account_of(stage, open_kfid)
    msgid = account.add_event(stage.world.now(), event_type, external_userid, **fields)
    if doorbell:
        ring(stage, account)
    return msgid


def kf_set_state(
    stage: Backstage,
    open_kfid: str,
    external_userid: str,
    service_state: int,
    servicer_userid: str = "",
    change_type: int = 1,
    doorbell: bool = True,
) -> bool:
    """Change a session as a human in the client does, which makes a session_status_change event."""
    account, now = kf_account_of(stage, open_kfid), stage.world.now()
    customer = account.customer(external_userid)
    customer.state, customer.servicer_userid = service_state, servicer_userid
    account.add_event(
        now,
        "session_status_change",
        external_userid,
        change_type=change_type,
        new_servicer_userid=servicer_userid,
        msg_code=account.new_code(external_userid, now),
    )
    if doorbell:
        ring(stage, account)
    return True


def kf_ring(stage: Backstage, open_kfid: str, knobs: Knobs | None = None) -> str:
    """Ring the doorbell of an account; returns the id of the callback."""
    return ring(stage, kf_account_of(stage, open_kfid), knobs).callback_id


def kf_customers(stage: Backstage, open_kfid: str) -> list[Json]:
    """State and counted replies of every customer."""
    found = kf_account_of(stage, open_kfid).customers.values()
    return [
        {"external_userid": one.external_userid, "service_state": one.state, "replies": one.replies} for one in found
    ]


def kf_account_of(stage: Backstage, open_kfid: str) -> KfAccount:
    """The account of an id.

    Raises:
        ControlError: there is none.
    """
    if open_kfid not in stage.world.kf_accounts:
        raise ControlError(f"there is no account {open_kfid!r}; make one with create_kf_account")
    return stage.world.kf_accounts[open_kfid]


COMMANDS = (create_kf_account, kf_say, kf_enter, kf_event, kf_set_state, kf_ring, kf_customers)
