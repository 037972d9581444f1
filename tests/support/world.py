"""One channel at the simulated WeChat, and the flow driven step by step in the test's own process."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

from wechat_bridge.flow import deliver, intake, poll, reply, turns
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model import keys
from wechat_bridge.model.channel import Account, Channel, Login
from wechat_bridge.model.message import InboundMessage, Item, ItemKind
from wechat_bridge.model.turn import Turn
from wechat_bridge.settings import MediaSettings, ReplySettings, Settings, load_settings
from wechat_bridge.simulators.ilink import IlinkControl
from wechat_bridge.wiring import Wired

KEY = "1bXkR6Ok9XPbN2bXkXc4nCqzv3X4tQ3hDqk0X3l5d1k="
LOOPBACK = "http://127.0.0.1:*"
"""Where the simulated CDN is; no test asks a server of anybody else."""

UNNOTICED_PACING = ReplySettings(pacing_seconds=0.01)
"""Every send asks for its slot, as in production, but nobody waits for it."""

_channels = count(1)
_messages = count(7_461_203_398_120_011_000)


def settings_for(redis_url: str, mongodb_url: str, **values: Any) -> Settings:
    """Settings for a test: quick, but with the promised figures where those are what is tested."""
    own = {"secret_keys": KEY, "media": MediaSettings(origins=(LOOPBACK,)), "reply": UNNOTICED_PACING}
    return load_settings(redis_url=redis_url, mongodb_url=mongodb_url, **{**own, **values})


@dataclass
class World:
    """A channel of one test."""

    wired: Wired
    control: IlinkControl
    share_id: str
    bot_id: str

    @classmethod
    def create(cls, wired: Wired, control: IlinkControl, base_url: str, **fields: Any) -> World:
        """Add a channel and log it in as a new bot."""
        share_id = f"test-{next(_channels)}"
        bot = control.create_bot()
        control.set_options(bot["bot_id"], check_context_token=False)
        bridge = wired.bridge
        bridge.channels.add(Channel(id=share_id, created_at=bridge.clock.now(), **fields))
        account = Account(token=bot["token"], account_id=bot["bot_id"], base_url=base_url)
        bridge.channels.log_in(share_id, Login(account=account, owner_user_id=bot["user_id"]), bridge.clock.now())
        return cls(wired, control, share_id, bot["bot_id"])

    @property
    def bridge(self) -> Bridge:
        """The bridge under test."""
        return self.wired.bridge

    @property
    def channel(self) -> Channel:
        """The channel as it is stored now."""
        channel = self.bridge.channels.get(self.share_id)
        assert channel is not None
        return channel

    def user(self, name: str = "ann") -> str:
        """Return a WeChat user id that no other test uses."""
        return f"{name}-{self.share_id}@im.wechat"

    def chat(self, name: str = "ann") -> str:
        """Return the chat id of a user with this channel."""
        return keys.chat_id(self.share_id, self.user(name))

    def text(self, text: str, name: str = "ann", **fields: Any) -> InboundMessage:
        """Return a message as a door would hand it over."""
        number = next(_messages)
        values: dict[str, Any] = {
            "message_id": str(number),
            "user_id": self.user(name),
            "items": (Item(kind=ItemKind.TEXT, text=text),),
            "context_token": f"token-{number}",
            "raw": "{}",
        }
        return InboundMessage(**(values | fields))

    def receive(self, *messages: InboundMessage) -> None:
        """Store messages as one answer of one poll."""
        intake.store(self.bridge, self.channel, messages, "poll")

    def poll(self) -> Channel:
        """Answer the doorbell of the channel's next link; return the channel as it is stored afterwards."""
        poll.poll_channel(self.bridge, self.share_id, self.channel.generation)
        return self.channel

    def polls(self) -> int:
        """Return how many getupdates WeChat has seen from this channel's bot."""
        return len(self.control.polls(self.bot_id))

    def make_due(self, name: str = "ann") -> None:
        """Let the debounce window of a conversation end now, if one has begun."""
        due = self.bridge.clock.now()
        waiting = {"_id": self.chat(name), "flush_at": {"$ne": None}}
        self.bridge.conversations.collection.update_one(waiting, {"$set": {"flush_at": due}})

    def flush(self, name: str = "ann") -> Turn | None:
        """Flush a conversation; return its open turn."""
        turns.flush_conversation(self.bridge, self.chat(name))
        return self.bridge.turns.open_of(self.chat(name))

    def answer(self, turn: Turn) -> Turn:
        """Ask the engine and deliver; return the turn as it is stored afterwards."""
        reply.generate_reply(self.bridge, turn.id)
        deliver.deliver_reply(self.bridge, turn.id)
        return self.turn(turn.id)

    def turn(self, turn_id: str) -> Turn:
        """Return a stored turn."""
        turn = self.bridge.turns.get(turn_id)
        assert turn is not None
        return turn

    def delivered(self, name: str = "ann") -> list[str]:
        """Return the texts a user sees, in order."""
        return [row["text"] for row in self.control.deliveries(self.user(name))]

    def row_state(self, message: InboundMessage) -> tuple[str, str]:
        """Return state and reason of a message's inbox row."""
        row = self.bridge.inbox.get(keys.inbox_id(self.share_id, message.message_id))
        assert row is not None
        return row.state.value, row.reason
