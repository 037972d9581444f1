"""The commands of the control API; see ``control_api`` for how they are called."""

from __future__ import annotations

from wechat_bridge.simulators.control_api import ControlApi
from wechat_bridge.simulators.wecom import control_console, control_kf, control_server, control_user

CONTROL = ControlApi(
    (*control_console.COMMANDS, *control_user.COMMANDS, *control_kf.COMMANDS, *control_server.COMMANDS)
)
