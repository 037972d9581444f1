"""What an operator decides about who may talk. Every function raises ChannelUnknown and LedgerUnavailable."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from wechat_bridge.errors import AccessRefused
from wechat_bridge.flow.channel.switch import unknown
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.people import takeover
from wechat_bridge.flow.people.notice import say
from wechat_bridge.flow.stop import stop_turn
from wechat_bridge.model import keys
from wechat_bridge.model.access import Policy, Reason, Standing, as_typed
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.access import Gate

log = logger(__name__)

APPROVED_TEXT = "已批准，现在可以开始提问了。\nYou are let in: ask away."


def set_policy(bridge: Bridge, share_id: str, policy: Policy, by: str) -> None:
    """Say whom a channel answers, from the next message on; replies that are in work go out."""
    _set_rules(bridge, share_id, by, policy=policy.value)


def set_limits(bridge: Bridge, share_id: str, per_minute: int | None, per_day: int | None, by: str) -> None:
    """Say how many messages of one person a channel takes; 0: any number, None: as before. Raises AccessRefused."""
    given = {"messages_per_minute": per_minute, "messages_per_day": per_day}
    limits = {name: value for name, value in given.items() if value is not None}
    if not limits or min(limits.values()) < 0:
        raise AccessRefused("give the messages a minute, a day, or both, as numbers from 0; 0 is no limit")
    _set_rules(bridge, share_id, by, **limits)


def allow(bridge: Bridge, share_id: str, user_id: str, by: str) -> None:
    """Let a person in by name, who need not have written yet."""
    _decide(bridge, share_id, user_id, Standing.LISTED, by)


def deny(bridge: Bridge, share_id: str, user_id: str, by: str) -> None:
    """Answer a person nothing any more, whatever the policy; the question in work is dropped."""
    _decide(bridge, share_id, user_id, Standing.DENIED, by)
    stop_turn(bridge, keys.chat_id(share_id, user_id), bridge.clock.now(), Reason.DENIED.value)


def forget(bridge: Bridge, share_id: str, user_id: str, by: str) -> None:
    """Take back what was decided about a person: the policy alone counts for them."""
    _decide(bridge, share_id, user_id, None, by)


def approve(bridge: Bridge, share_id: str, code: str, by: str) -> str:
    """Let in whoever was told this pairing code, and tell them; return their user id. Raises AccessRefused."""
    policy = _gate(bridge, share_id).rules.policy
    if policy is not Policy.PAIRING:
        raise AccessRefused(f"the policy of channel {share_id} is {policy.value}: codes count for pairing only")
    now, wanted = bridge.clock.now(), as_typed(code)
    found = [chat for chat in bridge.access.waiting_codes(share_id, now) if chat.access.code == wanted]
    decided = {"standing": Standing.PAIRED.value, "by": by}
    if not found or not bridge.access.approve(share_id, found[0].user_id, wanted, now, **decided):
        raise AccessRefused(f"no such code waits; a code holds for an hour: wechat-bridge access list {share_id}")
    log.info("pairing_approved", chat_id=found[0].id, by=by)
    # Its person may not be reachable any more. They are let in all the same, and see it when they write again.
    say(bridge, keys.access_id(share_id, f"approved:{keys.new_token()}"), found[0], APPROVED_TEXT)
    return found[0].user_id


def set_muted(bridge: Bridge, share_id: str, user_id: str, muted: bool, by: str) -> None:
    """Answer a person nothing for now, or answer again; their standing stays. Raises AccessRefused."""
    _conversation(bridge, share_id, user_id)
    (takeover.mute if muted else takeover.unmute)(bridge, share_id, user_id, by)


def set_human(bridge: Bridge, share_id: str, user_id: str, is_human: bool, by: str) -> None:
    """Take a conversation over from the engine, or give it back. Raises AccessRefused."""
    _conversation(bridge, share_id, user_id)
    if is_human:
        takeover.take_over(bridge, share_id, user_id, by, bridge.clock.now())
    else:
        takeover.hand_back(bridge, share_id, user_id, by)


def overview(bridge: Bridge, share_id: str) -> dict[str, Any]:
    """Return whom a channel answers and what was decided about whom, as JSON values."""
    gate, now = _gate(bridge, share_id), bridge.clock.now()
    return {
        "share_id": share_id,
        **gate.rules.model_dump(mode="json"),
        "owner_user_id": gate.owner_user_id,
        "persons": [_as_fields(chat, now) for chat in bridge.access.decided(share_id)],
    }


def _as_fields(chat: Conversation, now: datetime) -> dict[str, Any]:
    """Return what holds now: no code that is too old, no take-over that has ended."""
    holds = {"standing", "by", "muted", "at"}
    holds |= {"code", "code_until"} if chat.access.has_code(now) else set()
    holds |= {"human_until"} if chat.access.is_with_human(now) else set()
    return {"user_id": chat.user_id, **chat.access.model_dump(mode="json", include=holds)}


def _set_rules(bridge: Bridge, share_id: str, by: str, **changes: str | int) -> None:
    if not bridge.access.set_rules(share_id, **changes):
        raise unknown(share_id)
    log.info("access_changed", share_id=share_id, by=by, **changes)


def _decide(bridge: Bridge, share_id: str, user_id: str, standing: Standing | None, by: str) -> None:
    _gate(bridge, share_id)
    if not user_id or user_id == "*" or user_id != "".join(user_id.split()):
        raise AccessRefused(f"{user_id!r} is no person; to let everybody in: wechat-bridge access policy SHARE_ID open")
    value = standing.value if standing else None
    bridge.access.decide(share_id, user_id, bridge.clock.now(), standing=value, by=by, code="", code_until=None)
    log.info("person_decided", share_id=share_id, user_id=user_id, standing=value, by=by)


def _gate(bridge: Bridge, share_id: str) -> Gate:
    gate = bridge.access.gate(share_id)
    if gate is None:
        raise unknown(share_id)
    return gate


def _conversation(bridge: Bridge, share_id: str, user_id: str) -> Conversation:
    _gate(bridge, share_id)
    found = bridge.conversations.get(keys.chat_id(share_id, user_id))
    if found is None:
        raise AccessRefused(f"{user_id} has never written to channel {share_id}")
    return found
