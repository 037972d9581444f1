"""Change how a channel answers, from the next turn on: its name, engine, queue mode, label and outgoing check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from wechat_bridge.errors import ChannelInvalid
from wechat_bridge.flow.channel.switch import unknown
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.outgoing import OutgoingRules
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def configure(
    bridge: Bridge, share_id: str, fields: Mapping[str, Any], rules: Mapping[str, Any], by: str
) -> tuple[Channel, Channel]:
    """Change fields of a channel, and of its outgoing rules; return it as it was and as it is.

    ``check_secret`` among the rules is in the clear, and stored encrypted. The poll chain and the login stay as they
    are. Raises ChannelUnknown, ChannelInvalid, NotConfigured (no key to encrypt with) and LedgerUnavailable.
    """
    before = bridge.channels.get(share_id)
    if before is None:
        raise unknown(share_id)
    given = dict(rules)
    if "check_secret" in given:
        given["sealed_check_secret"] = _sealed(bridge, given.pop("check_secret"))
    after = before.model_copy(update=dict(fields) | {"outgoing": _valid(before.outgoing, given)})
    if after.engine != before.engine:
        _check_engine(bridge, after.engine)
    _check_rules(bridge, after.outgoing)
    stored = after.outgoing.model_dump(mode="json")
    changes = after.model_dump(mode="json", include=set(fields)) | {f"outgoing.{name}": stored[name] for name in given}
    if changes and not bridge.channels.configure(share_id, changes):
        raise unknown(share_id)
    log.info("channel_configured", share_id=share_id, fields=sorted(changes), by=by)
    return before, after


def _sealed(bridge: Bridge, secret: str) -> str:
    return bridge.channels.vault.seal_text(secret) if secret else ""


def _valid(rules: OutgoingRules, given: Mapping[str, Any]) -> OutgoingRules:
    try:
        return OutgoingRules.model_validate(rules.model_dump() | dict(given))
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        raise ChannelInvalid(f"{first['loc'][0]}: {first['msg'].removeprefix('Value error, ')}") from None


def _check_engine(bridge: Bridge, name: str) -> None:
    if name not in bridge.engines:
        raise ChannelInvalid(f"there is no engine {name}; there are: {', '.join(sorted(bridge.engines))}")


def _check_rules(bridge: Bridge, rules: OutgoingRules) -> None:
    reply = bridge.settings.reply
    if rules.check_url and not rules.sealed_check_secret:
        raise ChannelInvalid("a check needs a secret that signs its requests: give --check-secret, too")
    if len(rules.label) > reply.chunk_characters or len(rules.label.encode()) > reply.chunk_bytes:
        raise ChannelInvalid("the label is longer than one message may be (WECHAT_BRIDGE_REPLY__CHUNK_CHARACTERS)")
