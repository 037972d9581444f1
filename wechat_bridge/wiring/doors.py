"""The doors to platforms, by kind of channel."""

from __future__ import annotations

from wechat_bridge.channels.base import MediaDoor, SendingDoor
from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.ilink.door import IlinkDoor
from wechat_bridge.channels.ilink.media import IlinkMedia
from wechat_bridge.channels.wecom.door import WecomDoor
from wechat_bridge.channels.wecom.kf_door import KfDoor
from wechat_bridge.channels.wecom.kf_media import KfMedia
from wechat_bridge.channels.wecom.media import WecomMedia
from wechat_bridge.model.channel import ChannelKind
from wechat_bridge.settings import Settings
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.wecom_media_ids import WecomMediaIds


def doors(given: Settings, http: HttpClient, customer_service: KfDoor) -> dict[ChannelKind, SendingDoor]:
    """Return the doors through which messages go out, by the kind of their channel."""
    return {
        ChannelKind.ILINK: _door(given, http),
        ChannelKind.WECOM: WecomDoor(customer_service.api),
        ChannelKind.WECOM_KF: customer_service,
    }


def _door(given: Settings, http: HttpClient) -> IlinkDoor:
    return IlinkDoor(
        http,
        default_hold_seconds=given.poll.default_hold_seconds,
        poll_total_seconds=given.poll.total_deadline_seconds,
    )


def media_doors(
    given: Settings, http: HttpClient, customer_service: KfDoor, redis_client: RedisClient
) -> dict[ChannelKind, MediaDoor]:
    """Return the doors through which pictures and files come and go, by the kind of their channel."""
    media, ids = given.media, WecomMediaIds(redis_client)
    return {
        ChannelKind.ILINK: IlinkMedia(
            http, origins=media.origins, cdn_base_url=media.cdn_base_url, most_bytes=media.most_bytes
        ),
        ChannelKind.WECOM: WecomMedia(customer_service.api, ids, most_bytes=media.most_bytes),
        ChannelKind.WECOM_KF: KfMedia(customer_service, ids, most_bytes=media.most_bytes),
    }
