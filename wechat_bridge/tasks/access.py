"""Tasks by which an operator says who may talk, and answers by hand; called like those of ``management``."""

from __future__ import annotations

import secrets
from typing import Any

from celery import shared_task

from wechat_bridge import wiring
from wechat_bridge.flow.people import access_admin as admin
from wechat_bridge.flow.people import notice
from wechat_bridge.tasks.arguments import as_count, as_message, as_number, as_policy, as_share_id, as_user_id
from wechat_bridge.tasks.base import ManagementTask

Result = dict[str, Any]

BY = "a management task"


@shared_task(name="wechat_bridge.access_list", base=ManagementTask)
def access_list(share_id: str) -> Result:
    """Show whom a channel answers, the codes that wait, who is muted and where a human answers."""
    return admin.overview(wiring.bridge(), as_share_id(share_id))


@shared_task(name="wechat_bridge.access_policy", base=ManagementTask)
def access_policy(share_id: str, policy: str) -> Result:
    """Say whom a channel answers: open, allowlist, pairing or disabled."""
    share_id, wanted = as_share_id(share_id), as_policy(policy)
    admin.set_policy(wiring.bridge(), share_id, wanted, BY)
    return {"share_id": share_id, "message": f"policy {wanted.value}, from the next message on"}


@shared_task(name="wechat_bridge.access_limit", base=ManagementTask)
def access_limit(share_id: str, per_minute: int | None = None, per_day: int | None = None) -> Result:
    """Limit what one person may send; 0 is no limit."""
    share_id = as_share_id(share_id)
    admin.set_limits(wiring.bridge(), share_id, as_count(per_minute), as_count(per_day), BY)
    return {"share_id": share_id, "message": "the limits are changed"}


@shared_task(name="wechat_bridge.access_allow", base=ManagementTask)
def access_allow(share_id: str, user_id: str) -> Result:
    """Let a person in."""
    share_id, user_id = as_share_id(share_id), as_user_id(user_id)
    admin.allow(wiring.bridge(), share_id, user_id, BY)
    return _about(share_id, user_id, "let in")


@shared_task(name="wechat_bridge.access_deny", base=ManagementTask)
def access_deny(share_id: str, user_id: str) -> Result:
    """Answer a person nothing any more, whatever the policy."""
    share_id, user_id = as_share_id(share_id), as_user_id(user_id)
    admin.deny(wiring.bridge(), share_id, user_id, BY)
    return _about(share_id, user_id, "denied")


@shared_task(name="wechat_bridge.access_forget", base=ManagementTask)
def access_forget(share_id: str, user_id: str) -> Result:
    """Take back that a person was let in or denied."""
    share_id, user_id = as_share_id(share_id), as_user_id(user_id)
    admin.forget(wiring.bridge(), share_id, user_id, BY)
    return _about(share_id, user_id, "the policy alone counts")


@shared_task(name="wechat_bridge.access_approve", base=ManagementTask)
def access_approve(share_id: str, code: str) -> Result:
    """Let in whoever was told a pairing code."""
    share_id = as_share_id(share_id)
    user_id = admin.approve(wiring.bridge(), share_id, as_number(code), BY)
    return _about(share_id, user_id, "let in: their next message is answered")


@shared_task(name="wechat_bridge.access_mute", base=ManagementTask)
def access_mute(share_id: str, user_id: str) -> Result:
    """Answer a person nothing until unmuted."""
    share_id, user_id = as_share_id(share_id), as_user_id(user_id)
    admin.set_muted(wiring.bridge(), share_id, user_id, True, BY)
    return _about(share_id, user_id, "muted")


@shared_task(name="wechat_bridge.access_unmute", base=ManagementTask)
def access_unmute(share_id: str, user_id: str) -> Result:
    """Answer a person again."""
    share_id, user_id = as_share_id(share_id), as_user_id(user_id)
    admin.set_muted(wiring.bridge(), share_id, user_id, False, BY)
    return _about(share_id, user_id, "answered again")


@shared_task(name="wechat_bridge.access_human", base=ManagementTask)
def access_human(share_id: str, user_id: str) -> Result:
    """Take a conversation over from the engine; answer with send_notice."""
    share_id, user_id = as_share_id(share_id), as_user_id(user_id)
    admin.set_human(wiring.bridge(), share_id, user_id, True, BY)
    return _about(share_id, user_id, "the engine is silent; answer with wechat_bridge.send_notice")


@shared_task(name="wechat_bridge.access_bot", base=ManagementTask)
def access_bot(share_id: str, user_id: str) -> Result:
    """Give a conversation back to the engine."""
    share_id, user_id = as_share_id(share_id), as_user_id(user_id)
    admin.set_human(wiring.bridge(), share_id, user_id, False, BY)
    return _about(share_id, user_id, "the engine answers again")


@shared_task(name="wechat_bridge.send_notice", base=ManagementTask)
def send_notice(share_id: str, user_id: str, text: str, id: str = "") -> Result:
    """Write to a person; the same id again sends nothing twice."""
    share_id, user_id, text = as_share_id(share_id), as_user_id(user_id), as_message(text)
    own_id = as_number(id) or secrets.token_hex(8)
    turn_id = notice.send_notice(wiring.bridge(), share_id, user_id, text, own_id)
    return _about(share_id, user_id, "stored; it goes out at once if WeChat allows") | {"turn_id": turn_id}


def _about(share_id: str, user_id: str, message: str) -> Result:
    return {"share_id": share_id, "user_id": user_id, "message": message}
