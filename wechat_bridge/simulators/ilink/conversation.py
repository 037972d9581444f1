"""The small endpoints around a conversation: typing indicator, and the notices that a client starts or stops."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from wechat_bridge.simulators.ilink.call import Answer, Call, error_answer, json_answer
from wechat_bridge.simulators.ilink.identifiers import opaque
from wechat_bridge.simulators.ilink.sending import REFUSED

if TYPE_CHECKING:
    from wechat_bridge.simulators.ilink.world import World

USER_REQUIRED = "ilink_user_id required"


async def get_config(world: World, call: Call) -> Answer:
    """Give out a typing ticket for one user."""
    if not call.body.get("ilink_user_id"):
        return error_answer(REFUSED, USER_REQUIRED)
    ticket = opaque()
    call.account.tickets.add(ticket)
    return json_answer({"ret": 0, "typing_ticket": ticket})


async def send_typing(world: World, call: Call) -> Answer:
    """Record a typing status (1 typing, 2 cancel) with its time; the ticket is noted as known or not."""
    user_id = call.body.get("ilink_user_id")
    if not user_id:
        return error_answer(REFUSED, USER_REQUIRED)
    known = call.body.get("typing_ticket") in call.account.tickets
    row = {"at": time.time(), "user_id": user_id, "status": call.body.get("status"), "ticket_known": known}
    call.account.typing.append(row)
    return json_answer({"ret": 0})


async def notify(world: World, call: Call) -> Answer:
    """Record `notifystart` or `notifystop`."""
    call.account.notifications.append({"at": time.time(), "name": call.endpoint})
    return json_answer({"ret": 0, "errmsg": ""})
