"""A channel that is an app of the simulated WeCom, and the flow driven step by step in the test's own process."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

from tests.support.world import World
from wechat_bridge.flow import deliver, intake, reply, turns
from wechat_bridge.flow.wecom.app import add_app
from wechat_bridge.model.message import InboundMessage
from wechat_bridge.model.outcome import Outcome
from wechat_bridge.model.turn import Turn
from wechat_bridge.model.wecom import WecomSecrets, WecomSettings
from wechat_bridge.simulators.wecom import AppCredentials, WecomControl
from wechat_bridge.wiring import Wired

_apps = count(1)


@dataclass
class WecomWorld(World):
    """An app of one test; ``bot_id`` is how the simulator calls it."""

    control: Any

    @classmethod
    def of_app(cls, wired: Wired, control: WecomControl, **settings: Any) -> WecomWorld:
        """Make an app at the simulated WeCom, and its channel."""
        return cls.known(wired, control, control.create_app(), **settings)

    @classmethod
    def known(cls, wired: Wired, control: WecomControl, app: AppCredentials, **settings: Any) -> WecomWorld:
        """Add a channel for an app that exists."""
        share_id = f"wecom-{next(_apps)}"
        add_app(wired.bridge, share_id, settings_of(app, **settings), secrets_of(app))
        return cls(wired=wired, control=control, share_id=share_id, bot_id=app["app"])

    def user(self, name: str = "ann") -> str:
        """Return a member of the company."""
        return f"{name}-{self.share_id}"

    def receive(self, *messages: InboundMessage) -> None:
        """Store messages as callbacks bring them."""
        intake.store(self.bridge, self.channel, messages, "callback")

    def answered(self, text: str, name: str = "ann", **fields: Any) -> Turn:
        """Receive a message; return its turn, whose answer is stored and not sent."""
        self.receive(self.text(text, name=name, context_token="", **fields))
        self.make_due(name)
        turns.flush_conversation(self.bridge, self.chat(name))
        turn = self.bridge.turns.open_of(self.chat(name))
        assert turn is not None
        reply.generate_reply(self.bridge, turn.id)
        return self.turn(turn.id)

    def send(self, turn: Turn) -> Outcome:
        """Answer the doorbell of a delivery, as if its time had come."""
        due = {"$set": {"next_attempt_at": self.bridge.clock.now()}}
        self.bridge.turns.collection.update_one({"_id": turn.id, "state": "generated"}, due)
        return deliver.deliver_reply(self.bridge, turn.id)

    def shown(self, name: str = "ann") -> list[dict[str, Any]]:
        """Return all that a member sees of the app, in order."""
        return list(self.control.deliveries(self.user(name), self.bot_id))

    def delivered(self, name: str = "ann") -> list[str]:
        """Return the texts a member sees, in order."""
        return [row["text"] for row in self.shown(name)]

    def sends(self) -> list[dict[str, Any]]:
        """Return the calls of message/send of all apps, refused ones too: with a dead token nobody says whose it is."""
        return list(self.control.calls("message/send"))


def settings_of(app: AppCredentials, **changes: Any) -> WecomSettings:
    """What an operator says about an app of the simulator."""
    return WecomSettings(
        corp_id=app["corp_id"], agent_id=int(app["agent_id"]), api_base_url=app["api_base_url"], **changes
    )


def secrets_of(app: AppCredentials) -> WecomSecrets:
    """The secrets of an app of the simulator."""
    return WecomSecrets(secret=app["secret"], token=app["token"], encoding_aes_key=app["encoding_aes_key"])
