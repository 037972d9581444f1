"""An app of WeCom as a channel."""

from __future__ import annotations

from tests.flow.wecom.calling import app, bridge, channel_of
from tests.support.wecom_app import SECRETS, App
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.access import Policy

__all__ = ["app", "bridge"]


def test_an_app_is_online_open_to_everybody_and_polled_by_nobody(bridge: Bridge, app: App) -> None:
    for enabled in (False, True):
        bridge.channels.set_enabled(app.share_id, enabled, bridge.clock.now())
        channel = channel_of(app)
        assert (channel.status.value, channel.is_pollable, channel.next_poll_at) == ("online", False, None)
        assert channel.access.policy is Policy.OPEN
    due = bridge.channels.due_links(bridge.clock.after(3600), 1000)
    assert app.share_id not in {row["_id"] for row in due}


def test_nothing_secret_stands_in_its_document_or_repr(bridge: Bridge, app: App) -> None:
    document = bridge.channels.collection.find_one({"_id": app.share_id})
    for secret in (SECRETS.secret, SECRETS.token, SECRETS.encoding_aes_key):
        assert secret not in repr(document)
        assert secret not in repr(channel_of(app))
