"""A channel that is an app of WeCom, and its callbacks as WeCom's servers make them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from tests.channels.wecom.callbacks import sealed, text_message, xml
from wechat_bridge.channels.wecom.callback import Signed
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.wecom.app import add_app
from wechat_bridge.model.message import InboxRow
from wechat_bridge.model.wecom import WecomAccount, WecomSecrets, WecomSettings, account_of

TOKEN = "QDG6eK"
AES_KEY = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
SECRETS = WecomSecrets(secret="s3cr3t-of-the-app-0123456789abcdefghij", token=TOKEN, encoding_aes_key=AES_KEY)

_apps = count(1)
_messages = count(7_459_035_031_717_794_886)
_nonces = count(1)


@dataclass(frozen=True)
class App:
    """One app and its channel."""

    bridge: Bridge
    share_id: str
    account: WecomAccount

    @classmethod
    def create(cls, bridge: Bridge, secrets: WecomSecrets = SECRETS, **settings: Any) -> App:
        """Add a channel for a new app."""
        number = next(_apps)
        chosen = WecomSettings(**{"corp_id": f"wwcorp{number}", "agent_id": 1_000_000 + number} | settings)
        share_id = f"app-{number}"
        add_app(bridge, share_id, chosen, secrets)
        return cls(bridge, share_id, account_of(chosen, secrets))

    def text(self, text: str = "hello", user: str = "ann", **changes: Any) -> dict[str, Any]:
        """The fields of a new text message."""
        fields = {"FromUserName": user, "Content": text, "MsgId": next(_messages)}
        return text_message(self.account, datetime.now(UTC), **fields | changes)

    def event(self, event: str, user: str = "ann", **changes: Any) -> dict[str, Any]:
        """The fields of an event."""
        fields = self.text(user=user) | {"MsgType": "event", "Event": event, "EventKey": ""} | changes
        return {name: value for name, value in fields.items() if name not in {"MsgId", "Content"}}

    def post(self, plain: dict[str, Any] | str | bytes, age_seconds: float = 0.0) -> tuple[Signed, bytes]:
        """Query and body of a callback, encrypted and signed anew each time."""
        inside = xml(plain) if isinstance(plain, dict) else plain
        return sealed(self.account, inside, datetime.now(UTC) - timedelta(seconds=age_seconds), f"n{next(_nonces)}")

    def rows(self) -> list[InboxRow]:
        """What the inbox holds of this app, as it was received."""
        found = self.bridge.inbox.collection.find({"share_id": self.share_id}, {"_id": 1}).sort("received_at", 1)
        rows = [self.bridge.inbox.get(row["_id"]) for row in found]
        return [row for row in rows if row is not None]

    def texts(self) -> list[str]:
        """What the messages say."""
        return [row.items[0].text for row in self.rows()]


def parameters(query: Signed) -> dict[str, str]:
    """The query as it stands in the address."""
    return {"msg_signature": query.signature, "timestamp": query.timestamp, "nonce": query.nonce}
