"""An app of WeCom as a channel: made of what stands in WeCom's console, read again as its doors need it."""

from __future__ import annotations

from pydantic import ValidationError

from wechat_bridge.errors import DocumentInvalid, NotConfigured
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.channel import Channel, ChannelKind, ChannelStatus, StatusReason
from wechat_bridge.model.wecom import WecomAccount, WecomSecrets, WecomSettings, account_of
from wechat_bridge.model.wecom_kf import SETTINGS_OF, KfSettings, kf_account_of
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def add_app(
    bridge: Bridge, share_id: str, settings: WecomSettings, secrets: WecomSecrets, name: str = "", engine: str = "echo"
) -> Channel:
    """Add a channel for an app. It is online at once: there is no login, WeCom may call from now on.

    Everybody within the app's visible range may talk to it. Raises ChannelExists, NotConfigured without a key to seal
    the secrets with, and LedgerUnavailable.
    """
    return add_channel(bridge, ChannelKind.WECOM, share_id, settings, secrets, name, engine)


def add_channel(
    bridge: Bridge,
    kind: ChannelKind,
    share_id: str,
    settings: WecomSettings,
    secrets: WecomSecrets,
    name: str,
    engine: str,
) -> Channel:
    """Add a channel of a kind that WeCom calls. Raises what add_app raises."""
    channel = Channel(
        id=share_id,
        kind=kind,
        name=name,
        engine=engine,
        status=ChannelStatus.ONLINE,
        status_reason=StatusReason.NONE,
        account_id=settings.account_id,
        settings=settings.model_dump(mode="json"),
        sealed_account=bridge.channels.vault.seal_text(secrets.model_dump_json()),
        created_at=bridge.clock.now(),
    )
    bridge.channels.add(channel)
    log.info("app_added", share_id=share_id, account_id=channel.account_id)
    return channel


def app_of(bridge: Bridge, channel: Channel) -> tuple[WecomSettings, WecomAccount]:
    """Return a channel's settings and its account. Raises NotConfigured, and DocumentInvalid without a word of it."""
    if channel.sealed_account is None:
        raise NotConfigured(f"channel {channel.id} has no credentials")
    opened = bridge.channels.vault.open_text(channel.sealed_account)
    try:
        secrets = WecomSecrets.model_validate_json(opened)
        settings = SETTINGS_OF[channel.kind].model_validate(channel.settings)
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, row["loc"])) for row in error.errors())
        raise DocumentInvalid(f"channels {channel.id}: settings or credentials: {fields} does not fit") from None
    if isinstance(settings, KfSettings):
        return settings, kf_account_of(settings, secrets)
    return settings, account_of(settings, secrets)
