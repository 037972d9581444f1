"""A channel that is a customer service account of the simulated WeCom, driven step by step in this process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from tests.channels.wecom.callbacks import sealed, xml
from tests.support.wecom_world import WecomWorld, secrets_of
from wechat_bridge.channels.wecom.callback import Signed
from wechat_bridge.flow import deliver, reply
from wechat_bridge.flow.customer_service.channel import add_customer_service
from wechat_bridge.flow.customer_service.pull import pull_customer_service
from wechat_bridge.flow.wecom.app import app_of
from wechat_bridge.flow.wecom.callback import Callbacks, Outcome
from wechat_bridge.model.message import InboxRow
from wechat_bridge.model.turn import Turn
from wechat_bridge.model.wecom_kf import KfSettings, Service, service_of
from wechat_bridge.simulators.wecom import AppCredentials, WecomControl
from wechat_bridge.wiring import Wired

_services = count(1)
_nonces = count(1)
HUMAN, ENDED = 3, 4


@dataclass
class CustomerWorld(WecomWorld):
    """An account of one test; ``bot_id`` is how the simulator calls the app that serves it."""

    open_kfid: str = ""

    @classmethod
    def of_account(cls, wired: Wired, control: WecomControl, **settings: Any) -> CustomerWorld:
        """Make an app and an account at the simulated WeCom, and its channel."""
        app = control.create_app()
        return cls.serving(wired, control, app, control.create_kf_account(app["app"]), **settings)

    @classmethod
    def serving(
        cls, wired: Wired, control: WecomControl, app: AppCredentials, open_kfid: str, **settings: Any
    ) -> CustomerWorld:
        """Add a channel for an account that exists."""
        share_id = f"service-{next(_services)}"
        chosen = kf_settings_of(app, open_kfid, **settings)
        add_customer_service(wired.bridge, share_id, chosen, secrets_of(app))
        return cls(wired=wired, control=control, share_id=share_id, bot_id=app["app"], open_kfid=open_kfid)

    def user(self, name: str = "ann") -> str:
        """Return a customer that no other test uses."""
        return f"wm-{name}-{self.share_id}"

    def say(self, *texts: str, name: str = "ann") -> list[str]:
        """Write as a customer; nobody rings. Returns the msgids."""
        return list(self.control.kf_say(self.open_kfid, self.user(name), *texts, doorbell=False))

    def say_earlier(self, text: str, seconds: float, name: str = "ann") -> None:
        """Write as a customer did so long ago."""
        message = {"msgtype": "text", "text": {"content": text}, "send_time": int(time.time() - seconds)}
        self.control.kf_write(self.open_kfid, self.user(name), [message], doorbell=False)

    def event(self, event_type: str, fields: dict[str, Any] | None = None, name: str = "ann") -> str:
        """Let an event happen; nobody rings."""
        return str(self.control.kf_event(self.open_kfid, self.user(name), event_type, fields, doorbell=False))

    def session(self, state: int, change_type: int, name: str = "ann") -> None:
        """Change the session of a customer as a human does; nobody rings."""
        more = {"servicer_userid": "agent", "change_type": change_type, "doorbell": False}
        self.control.kf_set_state(self.open_kfid, self.user(name), state, **more)

    def pull(self) -> None:
        """Answer the doorbell of the channel."""
        pull_customer_service(self.bridge, self.share_id)

    def settle(self, name: str = "ann") -> Turn | None:
        """Answer what waits of a customer; return the turn, or None when nothing did."""
        self.make_due(name)
        turn = self.flush(name)
        if turn is None:
            return None
        reply.generate_reply(self.bridge, turn.id)
        deliver.deliver_reply(self.bridge, turn.id)
        return self.turn(turn.id)

    def ring(self, callbacks: Callbacks, token: str = "", **fields: Any) -> Outcome:
        """Let WeCom ring at this channel."""
        plain = self.doorbell(token) | fields
        return callbacks.take(self.share_id, *self.post(plain), time.monotonic())

    def doorbell(self, token: str = "") -> dict[str, Any]:
        """The fields of a doorbell; it names no sender."""
        return {
            "ToUserName": self.bot_id.split(":")[0],
            "CreateTime": int(time.time()),
            "MsgType": "event",
            "Event": "kf_msg_or_event",
            "Token": token,
            "OpenKfId": self.open_kfid,
        }

    def post(self, plain: dict[str, Any]) -> tuple[Signed, bytes]:
        """Query and body of a callback to this channel."""
        _, account = app_of(self.bridge, self.channel)
        return sealed(account, xml(plain), datetime.now(UTC), f"kf{next(_nonces)}")

    @property
    def service(self) -> Service:
        """How far the account was read."""
        service = self.bridge.services.get(service_of(self.channel.settings))
        assert service is not None
        return service

    @property
    def is_due(self) -> bool:
        """Whether the account is to be read now."""
        due_at = self.service.due_at
        return due_at is not None and due_at <= self.bridge.clock.now()

    def let_pass(self, seconds: float) -> None:
        """Let the account's next pull come so much sooner, and forget who rang for it."""
        due_at = self.service.due_at
        assert due_at is not None
        changes = {"$set": {"due_at": due_at - timedelta(seconds=seconds)}}
        self.bridge.services.collection.update_one({"_id": self.service.id}, changes)
        self.bridge.locks.unannounce(self.share_id, self.bridge.owner)

    def rows(self) -> list[InboxRow]:
        """What the inbox holds of this account, in the order of the log."""
        found = self.bridge.inbox.collection.find({"share_id": self.share_id}, {"_id": 1}).sort("seq", 1)
        rows = [self.bridge.inbox.get(row["_id"]) for row in found]
        return [row for row in rows if row is not None]

    def said(self) -> list[tuple[str, str, str]]:
        """Text, state and reason of what customers said."""
        return [(row.items[0].text, row.state.value, row.reason) for row in self.rows() if row.items]

    def pulls(self) -> Sequence[dict[str, Any]]:
        """The calls of kf/sync_msg."""
        return list(self.control.calls("kf/sync_msg", self.bot_id))

    def kf_sends(self) -> Sequence[dict[str, Any]]:
        """The calls of kf/send_msg."""
        return list(self.control.calls("kf/send_msg", self.bot_id))


def kf_settings_of(app: AppCredentials, open_kfid: str, **changes: Any) -> KfSettings:
    """What an operator says about an account of the simulator."""
    return KfSettings(
        corp_id=app["corp_id"],
        agent_id=int(app["agent_id"]),
        api_base_url=app["api_base_url"],
        open_kfid=open_kfid,
        **changes,
    )
