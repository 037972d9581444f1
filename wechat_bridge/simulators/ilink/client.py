"""The Python client of the control API: be the WeChat user, and be the person behind the server."""

from __future__ import annotations

import base64
from typing import Any, TypedDict

from wechat_bridge.simulators.control_client import ControlCallError, ControlConnection
from wechat_bridge.simulators.json_types import Json


class BotCredentials(TypedDict):
    """What a client needs to be a bot. `user_id` is the WeChat user it is bound to."""

    bot_id: str
    token: str
    base_url: str
    user_id: str


class IlinkControl(ControlConnection):
    """Speaks to one running simulator; see the commands of the server for what the rows hold.

    Message ids are strings. Methods that wait return what there is when their time is up. Each raises
    `ControlCallError` when the command is refused, and `requests.RequestException` when the server does not answer.
    """

    # A WeChat user

    def say(self, bot_id: str, user_id: str, *texts: str) -> list[str]:
        """Send texts as this user, as one batch; returns the message ids."""
        return self.write(bot_id, [{"from_user_id": user_id, "text": text} for text in texts])

    def send_items(self, bot_id: str, user_id: str, items: list[Json]) -> str:
        """Send one message with these items as this user; returns its id."""
        return self.write(bot_id, [{"from_user_id": user_id, "item_list": items}])[0]

    def write(self, bot_id: str, messages: list[Json]) -> list[str]:
        """Send messages as one batch, each with any field of the protocol set or left out (`omit`); returns the ids."""
        ids: list[str] = self.call("write", bot_id=bot_id, messages=messages)
        return ids

    def write_raw(self, bot_id: str, messages: list[Any]) -> None:
        """Send JSON values as they are, as one batch."""
        self.call("write_raw", bot_id=bot_id, messages=messages)

    def redeliver(self, bot_id: str, message_id: str) -> None:
        """Deliver a message again, with another context token."""
        self.call("redeliver", bot_id=bot_id, message_id=message_id)

    def deliveries(self, user_id: str, after: int = 0, count: int = 0, timeout_seconds: float = 10.0) -> list[Json]:
        """What the user saw beyond the first `after`, once there are at least `count`."""
        return self.rows("deliveries", timeout_seconds, user_id=user_id, after=after, count=count)

    def wait_for_delivery(self, user_id: str, after: int = 0, timeout_seconds: float = 10.0) -> Json | None:
        """The delivery that comes after the first `after`; None when none came in time."""
        rows = self.deliveries(user_id, after, 1, timeout_seconds)
        return rows[0] if rows else None

    def sends(self, bot_id: str = "", after: int = 0, count: int = 0, timeout_seconds: float = 10.0) -> list[Json]:
        """Every sendmessage, refused ones too, beyond the first `after`, once there are at least `count`."""
        return self.rows("sends", timeout_seconds, bot_id=bot_id, after=after, count=count)

    def typing(self, bot_id: str) -> list[Json]:
        """Every typing status of a bot."""
        return self.rows("typing", bot_id=bot_id)

    def notifications(self, bot_id: str) -> list[Json]:
        """Every notifystart and notifystop of a bot."""
        return self.rows("notifications", bot_id=bot_id)

    def put_media(self, data: bytes, key_spelling: str = "raw") -> Json:
        """Put a file on the CDN as a phone does; returns its `aeskey`, encrypted `size` and `media` for an item."""
        encoded = base64.b64encode(data).decode("ascii")
        return self.row("put_media", data_base64=encoded, key_spelling=key_spelling)

    def get_media(self, encrypt_query_param: str) -> bytes:
        """The plaintext of a file on the CDN."""
        return base64.b64decode(self.call("get_media", encrypt_query_param=encrypt_query_param))

    # QR logins

    def qrcodes(self, after: int = 0, count: int = 0, timeout_seconds: float = 10.0) -> list[Json]:
        """The QR codes given out beyond the first `after`, once there are at least `count`."""
        return self.rows("qrcodes", timeout_seconds, after=after, count=count)

    def wait_for_qrcode(self, after: int = 0, timeout_seconds: float = 10.0) -> str:
        """The code given out after the first `after`.

        Raises:
            ControlCallError: none was asked for in time.
        """
        rows = self.qrcodes(after, 1, timeout_seconds)
        if not rows:
            raise ControlCallError(f"no client asked for a QR code within {timeout_seconds} s")
        return str(rows[0]["qrcode"])

    def scan(self, qrcode: str, verify_code: str = "") -> None:
        """Scan a code; with a verify code the client has to send that number first."""
        self.call("scan", qrcode=qrcode, verify_code=verify_code)

    def confirm(
        self, qrcode: str, user_id: str, bot_id: str = "", fields: Json | None = None, omit: list[str] | None = None
    ) -> Json:
        """Confirm a code as this user; `fields` and `omit` falsify the status that is told and returned."""
        return self.row("confirm", qrcode=qrcode, user_id=user_id, bot_id=bot_id, fields=fields, omit=omit)

    def show_statuses(self, qrcode: str, *statuses: Json) -> None:
        """Tell these statuses as they are, one per request, the last one from then on."""
        self.call("show_statuses", qrcode=qrcode, statuses=list(statuses))

    # The person behind the server

    def create_bot(self, user_id: str = "", bot_id: str = "", token: str = "") -> BotCredentials:
        """Make a bot without a QR login; what is not given is made up."""
        credentials: BotCredentials = self.call("create_bot", user_id=user_id, bot_id=bot_id, token=token)
        return credentials

    def bots(self) -> list[BotCredentials]:
        """Every bot whose token is valid."""
        found: list[BotCredentials] = self.call("bots")
        return found

    def expire_token(self, bot_id: str, end_open_poll: bool = True) -> None:
        """Make a bot's token stale; its open poll gets -14 now or ends by itself."""
        self.call("expire_token", bot_id=bot_id, end_open_poll=end_open_poll)

    def options(self, bot_id: str = "") -> Json:
        """The switches in force for the server or a bot."""
        return self.row("options", bot_id=bot_id)

    def set_options(self, bot_id: str = "", **changes: Any) -> Json:
        """Change switches of the server or of one bot; returns those in force then."""
        return self.row("set_options", bot_id=bot_id, changes=changes)

    def script(self, endpoint: str, bot_id: str = "", **entry: Any) -> None:
        """Script what the next requests to an endpoint get; the fields are those of `ScriptedAnswer`."""
        self.call("script", endpoint=endpoint, bot_id=bot_id, entry=entry)

    def clear_script(self) -> None:
        """Forget everything scripted."""
        self.call("clear_script")

    def break_connections(self, bot_id: str = "") -> int:
        """Reset the connections of the open polls of one bot or of all; returns how many."""
        return int(self.call("break_connections", bot_id=bot_id))

    def wait_for_open_polls(self, count: int, bot_id: str = "", timeout_seconds: float = 10.0) -> int:
        """Wait until exactly so many polls are open; returns how many are."""
        return int(self.call("wait_for_open_polls", timeout_seconds, count=count, bot_id=bot_id))

    def advance_clock(self, seconds: float) -> None:
        """Move the server's virtual clock ahead."""
        self.call("advance_clock", seconds=seconds)

    def polls(self, bot_id: str) -> list[Json]:
        """The remembered polls of a bot, oldest first."""
        return self.rows("polls", bot_id=bot_id)

    def stats(self, bot_id: str = "") -> Json:
        """Figures of the server, or of one bot with its overlaps and lost batches."""
        return self.row("stats", bot_id=bot_id)

    def reset(self) -> None:
        """Reset every connection that polls and forget everything."""
        self.call("reset")
