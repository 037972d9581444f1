"""What an operator gives for an app of WeCom: checked word for word, and changed later without a new channel."""

from __future__ import annotations

import json
import secrets
import string
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from wechat_bridge.errors import ChannelBusy, ChannelInvalid, NotConfigured
from wechat_bridge.flow.channel.switch import unknown
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.channel import CALLED_KINDS, Channel
from wechat_bridge.model.wecom import WecomSecrets, WecomSettings
from wechat_bridge.model.wecom_kf import SETTINGS_OF, KfSettings, service_of
from wechat_bridge.observe.logging import logger

log = logger(__name__)

Checked = TypeVar("Checked", bound=BaseModel)

LETTERS = string.ascii_letters + string.digits
TOKEN_CHARACTERS = 32
LAST_OF_KEY = "AEIMQUYcgkosw048"
"""Letters whose last two bits are 0: decoders that refuse others (facts, trap 5) take the key, too."""


def new_callback_keys() -> dict[str, str]:
    """Return a fresh Token and EncodingAESKey, as WeCom's console makes them."""
    token = "".join(secrets.choice(LETTERS) for _ in range(TOKEN_CHARACTERS))
    key = "".join(secrets.choice(LETTERS) for _ in range(42)) + secrets.choice(LAST_OF_KEY)
    return {"token": token, "encoding_aes_key": key}


def checked(model: type[Checked], given: Mapping[str, Any]) -> Checked:
    """Return settings or secrets of an app. Raises ChannelInvalid, naming the first field and not what stands there."""
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        raise ChannelInvalid(f"{name}: {first['msg'].removeprefix('Value error, ')}") from None


def missing_secrets(bridge: Bridge, share_id: str) -> list[str]:
    """Return which secrets of an app are not stored, or can be read no more. Raises what change_app raises."""
    known = _known_secrets(bridge, _existing(bridge, share_id))
    return [name for name, field in WecomSecrets.model_fields.items() if field.is_required() and not known.get(name)]


def change_app(
    bridge: Bridge, share_id: str, settings: Mapping[str, Any], given_secrets: Mapping[str, str], by: str
) -> Channel:
    """Change what stands in the console for an app; what is not given stays. Returns the channel as it was.

    The channel is online afterwards, also when its credentials had been removed; where replies are held until the app
    works again, one of them tries at once. Raises ChannelUnknown, ChannelInvalid,
    ChannelBusy, NotConfigured (no key to encrypt with) and LedgerUnavailable.
    """
    before = _existing(bridge, share_id)
    chosen = checked(SETTINGS_OF[before.kind], before.settings | dict(settings))
    _check_same_service(before, chosen)
    sealed = checked(WecomSecrets, _known_secrets(bridge, before) | dict(given_secrets))
    fields = {
        "settings": chosen.model_dump(mode="json"),
        "account_id": chosen.account_id,
        "sealed_account": bridge.channels.vault.seal_text(sealed.model_dump_json()),
    }
    if not bridge.accounts.set_app(share_id, before.epoch, fields, bridge.clock.now()):
        raise ChannelBusy(f"channel {share_id} was changed or removed meanwhile; look at it and run this again")
    log.info("app_changed", share_id=share_id, fields=sorted([*settings, *given_secrets]), by=by)
    return before


def _check_same_service(channel: Channel, settings: WecomSettings) -> None:
    if isinstance(settings, KfSettings) and settings.account_id != service_of(channel.settings):
        raise ChannelInvalid("corp_id: another account of customer service is another channel; add one")


def _existing(bridge: Bridge, share_id: str) -> Channel:
    channel = bridge.channels.get(share_id)
    if channel is None:
        raise unknown(share_id)
    if channel.kind not in CALLED_KINDS:
        raise ChannelInvalid(f"channel {share_id} is of kind {channel.kind.value}, no app of WeCom")
    return channel


def _known_secrets(bridge: Bridge, channel: Channel) -> dict[str, str]:
    """Return the secrets that are stored; none where they were removed, or no key opens them any more."""
    if channel.sealed_account is None:
        return {}
    try:
        known: dict[str, str] = json.loads(bridge.channels.vault.open_text(channel.sealed_account))
    except NotConfigured:
        return {}
    return known
