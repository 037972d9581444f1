"""Tasks that an operator calls: from Flower (``POST /api/task/async-apply/wechat_bridge.relogin``), the CLI, or code.

Arguments are taken as people type them. The result is a JSON object, or a failure whose message is one line; both are
kept for ten minutes (``/api/task/result/<id>`` in Flower).
"""

from __future__ import annotations

from typing import Any

from celery import shared_task

from wechat_bridge import wiring
from wechat_bridge.flow.channel import switch
from wechat_bridge.flow.dead_letters import replay
from wechat_bridge.flow.login import number as login_number
from wechat_bridge.flow.login import start as login_start
from wechat_bridge.flow.login import step as login_step
from wechat_bridge.flow.login.view import view
from wechat_bridge.tasks.arguments import as_id, as_number, as_share_id
from wechat_bridge.tasks.base import BridgeTask, ManagementTask

Result = dict[str, Any]


@shared_task(name="wechat_bridge.follow_login", base=BridgeTask, send_events=False)
def follow_login(share_id: str, login_id: str, step: int) -> None:
    """Do one step of a QR login and ring for the next."""
    login_step.follow_login(wiring.bridge(), share_id, login_id, step)


@shared_task(name="wechat_bridge.relogin", base=ManagementTask)
def relogin(share_id: str) -> Result:
    """Begin a QR login of a channel, or join the one in progress: the link, and a QR code of text, to be scanned."""
    bridge = wiring.bridge()
    login = login_start.start_login(bridge, as_share_id(share_id))
    login_step.chain_next_step(bridge, login)
    return view(bridge, login)


@shared_task(name="wechat_bridge.submit_verify_code", base=ManagementTask)
def submit_verify_code(share_id: str, code: str) -> Result:
    """Submit the number that the phone shows during a login; says whether it was right."""
    bridge = wiring.bridge()
    login = login_number.submit_number(bridge, as_share_id(share_id), as_number(code))
    return view(bridge, login_number.wait_for_verdict(bridge, login))


@shared_task(name="wechat_bridge.logout", base=ManagementTask)
def logout(share_id: str) -> Result:
    """Remove the credentials of a channel; its messages and replies stay."""
    share_id = as_share_id(share_id)
    switch.log_out(wiring.bridge(), share_id)
    return {"share_id": share_id, "message": "logged out; replies under way wait for the next login"}


@shared_task(name="wechat_bridge.enable", base=ManagementTask)
def enable(share_id: str) -> Result:
    """Let a channel receive again."""
    return _switched(as_share_id(share_id), True)


@shared_task(name="wechat_bridge.disable", base=ManagementTask)
def disable(share_id: str) -> Result:
    """Stop receiving on a channel; its login and its messages stay."""
    return _switched(as_share_id(share_id), False)


@shared_task(name="wechat_bridge.probe", base=ManagementTask)
def probe(share_id: str) -> Result:
    """Poll a channel now instead of when it is due; says how it was."""
    channel = switch.probe(wiring.bridge(), as_share_id(share_id))
    shown = channel.model_dump(mode="json", include={"status", "status_reason", "last_poll_at", "last_error"})
    return {"share_id": channel.share_id, "message": "a poll is on its way", **shown}


@shared_task(name="wechat_bridge.replay_dead_letter", base=ManagementTask)
def replay_dead_letter(id: str) -> Result:
    """Try a turn that was given up again."""
    letter_id = as_id(id)
    return {
        "id": letter_id,
        "message": replay.replay(wiring.bridge(), letter_id, "task wechat_bridge.replay_dead_letter"),
    }


def _switched(share_id: str, enabled: bool) -> Result:
    switch.switch(wiring.bridge(), share_id, enabled)
    return {"share_id": share_id, "message": "enabled" if enabled else "disabled"}
