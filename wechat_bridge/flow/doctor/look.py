"""Look a channel over and say in plain words what to change where. Nothing is changed by looking."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, computed_field

from wechat_bridge.channels.http import HttpClient
from wechat_bridge.errors import DocumentInvalid, NotConfigured
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.doctor.customer_service import rung
from wechat_bridge.flow.doctor.ilink import of_login
from wechat_bridge.flow.doctor.url import PAGE, of_url
from wechat_bridge.flow.doctor.wecom import Asked, of_wecom
from wechat_bridge.flow.health.check import Check
from wechat_bridge.flow.wecom.app import app_of
from wechat_bridge.model.channel import Channel, ChannelKind
from wechat_bridge.model.wecom import WecomAccount

__all__ = ["Asked", "Diagnosis", "diagnose"]

KEY = "EncodingAESKey"


class Diagnosis(BaseModel):
    """What was found in one channel, in the order in which a person should see to it."""

    model_config = ConfigDict(frozen=True)

    share_id: str
    kind: ChannelKind
    checks: list[Check]

    @computed_field  # type: ignore[prop-decorator]  # mypy does not know decorated properties
    @property
    def ok(self) -> bool:
        """Whether nothing has to be changed. Warnings do not count."""
        return all(check.ok or check.warning for check in self.checks)


def diagnose(bridge: Bridge, http: HttpClient, channel: Channel, asked: Asked) -> Diagnosis:
    """Look a channel over; takes seconds, half a minute where nothing answers. Raises LedgerUnavailable only."""
    checks = [] if channel.enabled else [_disabled(channel)]
    if channel.kind is ChannelKind.ILINK:
        checks += of_login(bridge, channel)
    else:
        checks += [*_held(channel), *_of_app(bridge, http, channel, asked)]
    return Diagnosis(share_id=channel.id, kind=channel.kind, checks=checks)


def _of_app(bridge: Bridge, http: HttpClient, channel: Channel, asked: Asked) -> list[Check]:
    account = _account(bridge, channel)
    if isinstance(account, Check):
        return [account]
    key = Check(name=KEY, ok=True, detail="43 characters, as it should be")
    called = rung(channel) if channel.kind is ChannelKind.WECOM_KF else _called(channel)
    return [key, *of_url(bridge, http, channel, account), called, *of_wecom(bridge, http, channel.id, account, asked)]


def _account(bridge: Bridge, channel: Channel) -> WecomAccount | Check:
    try:
        return app_of(bridge, channel)[1]
    except NotConfigured as error:
        detail = f"{error}; give them again: wechat-bridge channel secret {channel.id}"
        return Check(name="credentials", ok=False, detail=detail)
    except DocumentInvalid as error:
        is_key = "encoding_aes_key" in str(error)
        detail = f"it has to be 43 letters and digits: copy it from {PAGE}" if is_key else str(error)
        detail += f"; then: wechat-bridge channel secret {channel.id}"
        return Check(name=KEY if is_key else "credentials", ok=False, detail=detail)


def _called(channel: Channel) -> Check:
    """Whether the address was ever entered at WeCom shows only in what comes."""
    if channel.last_callback_at is None:
        detail = f"WeCom has not called yet: enter the callback URL under {PAGE}, then write to the app"
        return Check(name="callbacks", ok=False, detail=detail, warning=True)
    return Check(name="callbacks", ok=True, detail=f"the last came at {channel.last_callback_at:%Y-%m-%d %H:%M:%S} UTC")


def _held(channel: Channel) -> list[Check]:
    """Replies that wait for an app to work again: what follows says why, or that it is over."""
    if channel.hold is None or not channel.hold.lasts:
        return []
    since = f"{channel.hold.since:%Y-%m-%d %H:%M} UTC"
    detail = f"they wait since {since} and go out by themselves minutes after it works again: {channel.hold.error}"
    return [Check(name="replies", ok=False, detail=detail, warning=True)]


def _disabled(channel: Channel) -> Check:
    detail = f"the channel is disabled, what comes is not answered: wechat-bridge channel enable {channel.id}"
    return Check(name="enabled", ok=False, detail=detail, warning=True)
