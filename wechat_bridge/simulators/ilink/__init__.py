"""A faithful simulated server of Tencent's iLink bot API (personal WeChat), its CDN, and a control API beside it.

`IlinkSimulator` runs it in a thread, `IlinkSimulatorProcess` as a process; both give `base_url`, where clients are
pointed at, and `control`, an `IlinkControl`, through which one is the WeChat user.
"""

from __future__ import annotations

from wechat_bridge.simulators.ilink.client import BotCredentials, IlinkControl
from wechat_bridge.simulators.ilink.options import IlinkOptions
from wechat_bridge.simulators.ilink.simulator import IlinkSimulator, IlinkSimulatorProcess

__all__ = [
    "BotCredentials",
    "IlinkControl",
    "IlinkOptions",
    "IlinkSimulator",
    "IlinkSimulatorProcess",
]
