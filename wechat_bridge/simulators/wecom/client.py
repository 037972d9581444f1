"""The Python client of the control API: be the member, the customer, the operator and the person behind the server."""

from __future__ import annotations

import base64
from typing import Any

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.client_kf import KfControl
from wechat_bridge.simulators.wecom.credentials import AppCredentials


class WecomControl(KfControl):
    """Speaks to one running simulator; see the commands of the server for what the rows hold.

    Message ids are strings. Methods that wait return what there is when their time is up. Each raises
    `ControlCallError` when the command is refused, and `requests.RequestException` when the server does not answer.
    """

    # A member

    def say(self, app: str, user_id: str, *texts: str, **knobs: Any) -> list[str]:
        """Send texts to an app, one after the other; `knobs` are those of `Knobs`. Returns the MsgIds at once."""
        messages = [{"MsgType": "text", "Content": text} for text in texts]
        return [str(row["msg_id"]) for row in self.write(app, user_id, messages, knobs=knobs)]

    def event(self, app: str, user_id: str, event: str, fields: Json | None = None, **knobs: Any) -> str:
        """Cause an event; `fields` beside and over the common ones. Returns the id of the callback."""
        message = {"MsgType": "event", "Event": event, **(fields or {})}
        return str(self.write(app, user_id, [message], knobs=knobs)[0]["callback_id"])

    def write(
        self,
        app: str,
        user_id: str,
        messages: list[Json],
        order: str = "in_turn",
        knobs: Json | None = None,
        omit: list[str] | None = None,
        spacing_seconds: float = 0.0,
    ) -> list[Json]:
        """Send messages or events, each an object of XML fields; see the server's `write` for `order`.

        Returns ``{"callback_id", "msg_id"}`` each, at once.
        """
        ends: Json = {"order": order, "knobs": knobs, "omit": omit, "spacing_seconds": spacing_seconds}
        return self.rows("write", app=app, user_id=user_id, messages=messages, **ends)

    def repeat(self, callback_id: str, **knobs: Any) -> str:
        """Send the same message or event again; returns the id of the new callback."""
        return str(self.call("repeat", callback_id=callback_id, knobs=knobs))

    def callbacks(self, app: str = "", after: int = 0, count: int = 0, timeout_seconds: float = 20.0) -> list[Json]:
        """The callbacks to an app beyond the first `after`, once at least `count` of them are over."""
        return self.rows("callbacks", timeout_seconds, app=app, after=after, count=count)

    def deliveries(
        self, user_id: str = "", app: str = "", after: int = 0, count: int = 0, timeout_seconds: float = 10.0
    ) -> list[Json]:
        """What a person really sees beyond the first `after`, once there are at least `count`."""
        return self.rows("deliveries", timeout_seconds, user_id=user_id, app=app, after=after, count=count)

    def wait_for_delivery(self, user_id: str, after: int = 0, timeout_seconds: float = 10.0) -> Json | None:
        """What comes after the first `after`; None when nothing came in time."""
        rows = self.deliveries(user_id, after=after, count=1, timeout_seconds=timeout_seconds)
        return rows[0] if rows else None

    def put_media(self, app: str, kind: str, data: bytes, filename: str = "file.bin") -> Json:
        """Put a file into the corp's media; returns the fields of a message that carries it, for `write`."""
        encoded = base64.b64encode(data).decode("ascii")
        return self.row("put_media", app=app, kind=kind, data_base64=encoded, filename=filename)

    def get_media(self, app: str, media_id: str) -> bytes:
        """The bytes of a file."""
        return base64.b64decode(self.call("get_media", app=app, media_id=media_id))

    # The operator

    def create_app(self, corp_id: str = "", callback_url: str = "", **credentials: Any) -> AppCredentials:
        """Make an app; `credentials`: agent_id, secret, token, encoding_aes_key, each made up when not given."""
        app: AppCredentials = self.call("create_app", corp_id=corp_id, callback_url=callback_url, **credentials)
        return app

    def apps(self) -> list[AppCredentials]:
        """Every app."""
        found: list[AppCredentials] = self.call("apps")
        return found

    def set_app(self, app: str, **changes: Any) -> AppCredentials:
        """Change what the console holds: secret, callback_url, visible_users, trusted_ips, enabled, ..."""
        changed: AppCredentials = self.call("set_app", app=app, changes=changes)
        return changed

    def check_url(self, app: str, url: str = "") -> Json:
        """Check a callback URL; ``{"ok", "status", "seconds", "why", "console"}``."""
        return self.row("check_url", app=app, url=url)

    def set_callback(self, app: str, url: str) -> Json:
        """Check a URL and take it over if it is good."""
        return self.row("set_callback", app=app, url=url)

    def expire_token(self, app: str, errcode: int = 40014) -> bool:
        """Invalidate an app's access token before its time."""
        return bool(self.call("expire_token", app=app, errcode=errcode))

    # The person behind the server

    def options(self) -> Json:
        """The switches in force."""
        return self.row("options")

    def set_options(self, **changes: Any) -> Json:
        """Change switches; returns those in force then."""
        return self.row("set_options", changes=changes)

    def script(self, path: str, app: str = "", **entry: Any) -> None:
        """Script what the next calls of a path get; the fields are those of `ScriptedAnswer`."""
        self.call("script", path=path, app=app, entry=entry)

    def clear_script(self) -> None:
        """Forget everything scripted."""
        self.call("clear_script")

    def advance_clock(self, seconds: float) -> float:
        """Move the server's clock ahead; returns its Unix time."""
        return float(self.call("advance_clock", seconds=seconds))

    def calls(
        self, path: str = "", app: str = "", after: int = 0, count: int = 0, timeout_seconds: float = 10.0
    ) -> list[Json]:
        """Every call of a path, refused ones too, beyond the first `after`, once there are at least `count`."""
        return self.rows("calls", timeout_seconds, path=path, app=app, after=after, count=count)

    def stats(self) -> Json:
        """Figures of the server."""
        return self.row("stats")

    def reset(self) -> None:
        """Stop every callback and forget everything."""
        self.call("reset")
