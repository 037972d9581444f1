"""The commands of the control API; see ``control_api`` for how they are called."""

from __future__ import annotations

from wechat_bridge.simulators.control_api import ControlApi
from wechat_bridge.simulators.ilink import control_login, control_server, control_user

CONTROL = ControlApi((*control_user.COMMANDS, *control_login.COMMANDS, *control_server.COMMANDS))
