"""The demo's company: a simulated WeCom, an app whose callbacks come to the web process, and a member."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wechat_bridge.cli.chat import Person
from wechat_bridge.cli.console import Reporter
from wechat_bridge.errors import ServiceNotReachable
from wechat_bridge.flow.channel.switch import remove
from wechat_bridge.flow.wecom.app import add_app
from wechat_bridge.local.home import Home
from wechat_bridge.local.simulated import SimulatedWecom
from wechat_bridge.model.wecom import WecomSecrets, WecomSettings
from wechat_bridge.simulators.wecom import AppCredentials, WecomControl
from wechat_bridge.wiring import Wired


class WecomStage:
    """An app of WeCom (企业微信)."""

    share_id = "demo-wecom"
    you_are = "a member of a company that uses WeCom"
    answered_by: tuple[str, ...] = ("web", "reply")

    def __init__(self, home: Home, reporter: Reporter, web_port: int) -> None:
        self.server = SimulatedWecom(home.data / "simulator", home.logs / "simulator.log")
        self.variables = {"PUBLIC_BASE_URL": f"http://127.0.0.1:{web_port}"}
        self._callback_url = f"http://127.0.0.1:{web_port}/wecom/{self.share_id}"
        self._reporter = reporter

    @contextmanager
    def person(self, wired: Wired, wait_ready: Callable[[], None]) -> Iterator[Person]:
        """Have a channel for an app, and a member once the processes are ready and WeCom takes the callback URL.

        Raises ServiceNotReachable when it does not.
        """
        with WecomControl(self.server.url) as control:
            app = control.create_app()
            self._add(wired, app)
            wait_ready()
            checked = control.set_callback(app["app"], self._callback_url)
            if not checked["ok"]:
                raise ServiceNotReachable(f"WeCom refuses the callback URL {self._callback_url}: {checked['why']}")
            self._reporter.tell(f"WeCom takes the callback URL {self._callback_url} ({checked['seconds']:.2f} s)")
            yield WecomPerson(control, app["app"])

    def _add(self, wired: Wired, app: AppCredentials) -> None:
        """Add the channel; one that an earlier demo left in a ledger that stays knows another app."""
        if wired.bridge.channels.get(self.share_id) is not None:
            remove(wired.bridge, self.share_id, is_forced=True)
        settings = WecomSettings(
            corp_id=app["corp_id"], agent_id=int(app["agent_id"]), api_base_url=app["api_base_url"]
        )
        keys = WecomSecrets(secret=app["secret"], token=app["token"], encoding_aes_key=app["encoding_aes_key"])
        add_app(wired.bridge, self.share_id, settings, keys, name="demo")
        self._reporter.tell(f"channel {self.share_id} is app {app['agent_id']} at the simulated WeCom")


class WecomPerson:
    """A member, a new one in each demo: the simulated WeCom counts its MsgIds from the same number each time."""

    platform = "WeCom"

    def __init__(self, control: WecomControl, app: str) -> None:
        self._control = control
        self._app = app
        self._user_id = f"you-{secrets.token_hex(4)}"

    def say(self, text: str) -> str:
        """Write to the app."""
        [number] = self._control.say(self._app, self._user_id, text)
        return f"{self._user_id}:{number}"

    def seen(self, after: int) -> list[dict[str, Any]]:
        """Return what the app wrote."""
        return self._control.deliveries(self._user_id, after=after)
