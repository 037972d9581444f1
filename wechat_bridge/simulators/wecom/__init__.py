"""A faithful simulated server of WeCom (企业微信), and a control API beside it.

It calls the callback URLs of apps, answers their qyapi calls, and keeps customer service accounts.
`WecomSimulator` runs it in a thread, `WecomSimulatorProcess` as a process; both give `base_url`, which stands for
``https://qyapi.weixin.qq.com``, and `control`, a `WecomControl`, through which one is the member, the customer and the
operator. What people really see (`deliveries`) is kept apart from what was accepted (`calls`).
"""

from __future__ import annotations

from wechat_bridge.simulators.wecom.client import WecomControl
from wechat_bridge.simulators.wecom.credentials import AppCredentials
from wechat_bridge.simulators.wecom.options import WecomOptions
from wechat_bridge.simulators.wecom.simulator import WecomSimulator, WecomSimulatorProcess

__all__ = [
    "AppCredentials",
    "WecomControl",
    "WecomOptions",
    "WecomSimulator",
    "WecomSimulatorProcess",
]
