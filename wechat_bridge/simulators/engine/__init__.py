"""A simulated reply engine that speaks OpenAI's, FastGPT's and Dify's dialects and that of a webhook.

It answers with what it was asked, unless a script says otherwise, records each call, and fetches what a question links
to. `EngineSimulator` runs it in a thread; ``python -m wechat_bridge.simulators engine`` as a process, with
`POST /control/script`, `GET /control/calls` and `POST /control/clear` beside it.
"""

from __future__ import annotations

from wechat_bridge.simulators.engine.script import ScriptedReply
from wechat_bridge.simulators.engine.simulator import EngineSimulator
from wechat_bridge.simulators.engine.world import EngineOptions, RecordedCall

__all__ = ["EngineOptions", "EngineSimulator", "RecordedCall", "ScriptedReply"]
