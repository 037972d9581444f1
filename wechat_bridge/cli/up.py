"""`wechat-bridge up`, once its packages are known to be there."""

from __future__ import annotations

import os
import threading

from wechat_bridge.cli.console import Reporter
from wechat_bridge.cli.session import own_bridge
from wechat_bridge.cli.signals import StopSignals
from wechat_bridge.errors import SettingsError
from wechat_bridge.local.environment import FLOWER_FILE, for_others, own_secrets
from wechat_bridge.local.home import Home
from wechat_bridge.local.ports import is_free
from wechat_bridge.local.ready import wait_ready
from wechat_bridge.local.system import System
from wechat_bridge.settings import data_dir, load_settings

READY_SECONDS = 60.0
FLOWER_PORT = "WECHAT_BRIDGE_FLOWER_PORT"


def run() -> None:
    """Run until a signal says stop, then end everything. Raises what keeps the bridge from starting."""
    given = load_settings()
    home, reporter = Home(data_dir()), Reporter()
    with home.locked(), StopSignals() as signals:
        flower = flower_port()
        _refuse_taken({"WECHAT_BRIDGE_WEB_PORT": given.web_port, FLOWER_PORT: flower})
        system = System(home, reporter.tell)
        try:
            with reporter.busy("starting"):
                system.start()
                home.publish(for_others(system.urls))
                wait_until_ready(system, reporter, given.web_port)
            reporter.tell(_summary(home, given.web_port, flower))
            threading.Event().wait()
        except KeyboardInterrupt:
            pass  # the way in which this command ends
        finally:
            signals.ignore()
            system.stop()


def wait_until_ready(system: System, reporter: Reporter, web_port: int) -> None:
    """Return when every process does its work. Raises ServiceNotReachable."""
    os.environ.update({**system.urls, **own_secrets(system.home)})
    with own_bridge() as wired:
        wait_ready(system.programs, wired.bridge.workers.all, web_port, reporter.tell, READY_SECONDS)


def flower_port() -> int:
    """Return the port of the Flower page. Raises SettingsError."""
    value = os.environ.get(FLOWER_PORT) or "5555"
    if not value.isdecimal():
        raise SettingsError(f"{FLOWER_PORT}: {value!r} is not a port, set it to a number")
    return int(value)


def _refuse_taken(ports: dict[str, int]) -> None:
    for name, port in ports.items():
        if not is_free(port):
            raise SettingsError(f"{name}: port {port} is in use, set it to a free one")


def _summary(home: Home, web: int, flower: int) -> str:
    return "\n".join(
        [
            "the bridge runs; Ctrl-C stops it. In another terminal:",
            "  wechat-bridge channel add my-account && wechat-bridge channel login my-account",
            f"health   http://127.0.0.1:{web}/readyz",
            f"flower   http://127.0.0.1:{flower} (user and password: {home.root / FLOWER_FILE})",
            f"logs     {home.logs}",
        ]
    )
