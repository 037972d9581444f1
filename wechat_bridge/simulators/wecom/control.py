"""The control API: ``POST /_control/NAME`` with a JSON object of parameters, or ``GET`` with them in the query.

It is how a test, the demo or a benchmark is the member, the customer and the operator, and how it makes the server
misbehave. A wrong name, a wrong parameter or an unknown app is answered with HTTP 400 and ``{"error": "what to do"}``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from aiohttp import web
from pydantic import ConfigDict, ValidationError, validate_call

from wechat_bridge.simulators.ilink.control import CONTROL_PREFIX, json_response, parse_parameters
from wechat_bridge.simulators.ilink.control_errors import ControlError
from wechat_bridge.simulators.ilink.json_types import Json
from wechat_bridge.simulators.wecom import control_console, control_kf, control_server, control_user
from wechat_bridge.simulators.wecom.backstage import Backstage

_checked = validate_call(config=ConfigDict(arbitrary_types_allowed=True))
COMMANDS: dict[str, Callable[..., Any]] = {
    command.__name__: _checked(command)
    for command in (
        *control_console.COMMANDS,
        *control_user.COMMANDS,
        *control_kf.COMMANDS,
        *control_server.COMMANDS,
    )
}


async def answer_control(stage: Backstage, request: web.Request) -> web.Response:
    """Run one control command and answer with its result as JSON."""
    try:
        parameters = parse_parameters(request, await request.read())
        return json_response(await run_command(stage, request.path.removeprefix(CONTROL_PREFIX), parameters), 200)
    except (ControlError, ValidationError) as error:
        return json_response({"error": str(error)}, 400)


async def run_command(stage: Backstage, name: str, parameters: Json) -> Any:
    """Call the command; those that wait are coroutines."""
    command = COMMANDS.get(name)
    if command is None:
        raise ControlError(f"there is no control command {name!r}; there are: {', '.join(sorted(COMMANDS))}")
    result = command(stage, **parameters)
    return await result if inspect.isawaitable(result) else result
