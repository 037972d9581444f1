"""The customer service part of the control client."""

from __future__ import annotations

from typing import Any

from wechat_bridge.simulators.control_client import ControlConnection
from wechat_bridge.simulators.json_types import Json


class KfControl(ControlConnection):
    """Be the customer, and the human who serves. With ``doorbell=False`` nobody tells the app."""

    def create_kf_account(self, app: str, name: str = "客服", open_kfid: str = "") -> str:
        """Make an account that an app serves; returns its open_kfid."""
        return str(self.call("create_kf_account", app=app, name=name, open_kfid=open_kfid))

    def kf_say(self, open_kfid: str, external_userid: str, *texts: str, doorbell: bool = True) -> list[str]:
        """Write texts as a customer and ring once; returns the msgids."""
        messages = [{"msgtype": "text", "text": {"content": text}} for text in texts]
        return self.kf_write(open_kfid, external_userid, messages, doorbell)

    def kf_write(self, open_kfid: str, external_userid: str, messages: list[Json], doorbell: bool = True) -> list[str]:
        """Write messages of any type as a customer, each an object of sync_msg fields; returns the msgids."""
        msgids: list[str] = self.call(
            "kf_say", open_kfid=open_kfid, external_userid=external_userid, messages=messages, doorbell=doorbell
        )
        return msgids

    def kf_enter(self, open_kfid: str, external_userid: str, scene: str = "", doorbell: bool = True) -> str:
        """Open the conversation as a customer; returns the welcome_code."""
        return str(
            self.call("kf_enter", open_kfid=open_kfid, external_userid=external_userid, scene=scene, doorbell=doorbell)
        )

    def kf_event(
        self, open_kfid: str, external_userid: str, event_type: str, fields: Json | None = None, doorbell: bool = True
    ) -> str:
        """Let any event happen; returns the msgid of its log entry."""
        ends: Json = {"open_kfid": open_kfid, "external_userid": external_userid, "doorbell": doorbell}
        return str(self.call("kf_event", event_type=event_type, fields=fields or {}, **ends))

    def kf_set_state(self, open_kfid: str, external_userid: str, service_state: int, **more: Any) -> None:
        """Change a session as a human does; `more`: servicer_userid, change_type, doorbell."""
        ends: Json = {"open_kfid": open_kfid, "external_userid": external_userid}
        self.call("kf_set_state", service_state=service_state, **ends, **more)

    def kf_ring(self, open_kfid: str, **knobs: Any) -> str:
        """Ring the doorbell once more; returns the id of the callback."""
        return str(self.call("kf_ring", open_kfid=open_kfid, knobs=knobs))

    def kf_customers(self, open_kfid: str) -> list[Json]:
        """State and counted replies of every customer."""
        return self.rows("kf_customers", open_kfid=open_kfid)
