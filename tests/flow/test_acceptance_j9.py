"""Acceptance J9: the typing indicator ends with whatever the engine comes to, a failure and silence included."""

from __future__ import annotations

import pytest

from tests.support.system import wait_until
from tests.support.variations import using
from tests.support.world import World
from wechat_bridge.engines.base import Answer, Question
from wechat_bridge.errors import EngineRefused, EngineUnavailable
from wechat_bridge.flow import reply
from wechat_bridge.flow.typing_indicator import TypingIndicator


class SeenEngine:
    """Comes to its end once the person has seen that it works."""

    name = "echo"

    def __init__(self, world: World, end: Answer | Exception) -> None:
        self._world = world
        self._end = end

    def answer(self, question: Question) -> Answer:
        """Wait until the indicator is shown, then answer or fail."""
        wait_until(lambda: statuses(self._world), 10, "the indicator is shown")
        if isinstance(self._end, Exception):
            raise self._end
        return self._end


def statuses(world: World) -> list[int]:
    return [row["status"] for row in world.control.typing(world.bot_id)]


ENDS = [Answer("yes"), Answer(""), EngineUnavailable("busy"), EngineRefused("no"), ZeroDivisionError("x")]


@pytest.mark.parametrize("end", ENDS, ids=repr)
def test_typing_is_taken_away_once_whatever_the_engine_comes_to(world: World, end: Answer | Exception) -> None:
    seen = using(world, engines={"echo": SeenEngine(world, end)}, typing=TypingIndicator())
    seen.receive(seen.text("hello"))
    seen.make_due()
    turn = seen.flush()
    assert turn is not None
    if isinstance(end, ZeroDivisionError):
        with pytest.raises(ZeroDivisionError):
            reply.generate_reply(seen.bridge, turn.id)
    else:
        reply.generate_reply(seen.bridge, turn.id)
    wait_until(lambda: len(statuses(world)) >= 2, 5, "it is taken away")
    assert statuses(world) == [1, 2]
    seen.bridge.typing.close()
