"""The control API beside a simulated server: ``POST /_control/NAME`` with a JSON object of parameters, or ``GET`` with
them in the query.

It is how a test, the demo or a benchmark is the people and the operators of a platform, and how it makes the server
misbehave. A wrong name, a wrong parameter or an unknown account is answered with HTTP 400 and
``{"error": "what to do"}``.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable
from typing import Any

from aiohttp import web
from pydantic import ConfigDict, ValidationError, validate_call

from wechat_bridge.simulators.control_errors import ControlError
from wechat_bridge.simulators.json_types import Json

CONTROL_PREFIX = "/_control/"
# Parameters are checked and converted by their annotations, so that a query string does for numbers too.
_checked = validate_call(config=ConfigDict(arbitrary_types_allowed=True))


class ControlApi:
    """The commands of one simulator, by name; each gets the stage it acts upon, and its parameters."""

    def __init__(self, commands: Iterable[Callable[..., Any]]) -> None:
        self._commands: dict[str, Callable[..., Any]] = {command.__name__: _checked(command) for command in commands}

    async def answer(self, stage: object, request: web.BaseRequest) -> web.Response:
        """Run one control command and answer with its result as JSON."""
        try:
            parameters = parse_parameters(request, await request.content.read())
            return json_response(await self._run(stage, request.path.removeprefix(CONTROL_PREFIX), parameters), 200)
        except (ControlError, ValidationError) as error:
            return json_response({"error": str(error)}, 400)

    async def _run(self, stage: object, name: str, parameters: Json) -> Any:
        """Call the command; those that wait are coroutines."""
        command = self._commands.get(name)
        if command is None:
            raise ControlError(f"there is no control command {name!r}; there are: {', '.join(sorted(self._commands))}")
        result = command(stage, **parameters)
        return await result if inspect.isawaitable(result) else result


def parse_parameters(request: web.BaseRequest, data: bytes) -> Json:
    """The parameters of a command.

    Raises:
        ControlError: the body is not a JSON object.
    """
    if request.method == "GET":
        return dict(request.query)
    try:
        parameters = json.loads(data or b"{}")
    except ValueError as error:
        raise ControlError(f"the body is not JSON: {error}") from error
    if not isinstance(parameters, dict):
        raise ControlError("the body must be a JSON object of parameters")
    return parameters


def json_response(value: Any, status: int) -> web.Response:
    """A JSON response; ids in it are strings."""
    return web.Response(body=json.dumps(value).encode(), status=status, content_type="application/json")
