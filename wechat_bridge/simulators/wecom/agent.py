"""``agent/get`` and ``getcallbackip``: what an app can ask about itself and about the platform."""

from __future__ import annotations

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.call import Call
from wechat_bridge.simulators.wecom.codes import ApiError


def get(call: Call) -> Json:
    """``GET agent/get``: the app's own settings, with its visible range."""
    if call.query.get("agentid") != str(call.app.agent_id):
        raise ApiError(301002)
    users = call.app.visible_users
    return {
        "agentid": call.app.agent_id,
        "name": "bridge",
        "close": 0,
        "allow_userinfos": {"user": [{"userid": user} for user in users or ()]},
        # Without a list everyone is in range, which the platform says by the root department.
        "allow_partys": {"partyid": [1] if users is None else []},
        "allow_tags": {"tagid": []},
    }


def addresses(_call: Call) -> Json:
    """``GET getcallbackip``: where callbacks come from."""
    return {"ip_list": ["127.0.0.1"]}
