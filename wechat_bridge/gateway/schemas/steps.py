"""How much work one payload may cause: a schema with two alternatives that refer to it doubles it with every level."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from wechat_bridge.model.event import JsonObject

FREE_STEPS = 10_000
STEPS_PER_VALUE = 30
MOST_STEPS = 500_000
"""Keywords looked at for one payload, each some 10 us: a small one is done with in a tenth of a second, whatever its
schema, and one of a megabyte in some seconds."""

Keyword = Callable[[Any, Any, Any, Mapping[str, Any]], Any]


class TooManySteps(ValueError):
    """Checking one payload takes more steps than it may."""


class _Budget:
    def __init__(self, steps: int) -> None:
        self.left = steps


_budget: ContextVar[_Budget | None] = ContextVar("schema_steps", default=None)


@contextmanager
def limited(payload: JsonObject) -> Iterator[None]:
    """Run a validation of a payload that raises TooManySteps instead of going on for ever."""
    token = _budget.set(_Budget(min(MOST_STEPS, FREE_STEPS + STEPS_PER_VALUE * _values(payload))))
    try:
        yield
    finally:
        _budget.reset(token)


def _values(payload: JsonObject) -> int:
    count, level = 0, list(payload.values())
    while level:
        count += len(level)
        inside = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        level = [value for values in inside for value in values]
    return count


def counted(keyword: Keyword) -> Keyword:
    """Return the same keyword, which takes one step each time it is looked at."""

    def run(validator: Any, value: Any, instance: Any, schema: Mapping[str, Any]) -> Any:
        budget = _budget.get()
        if budget is not None:
            budget.left -= 1
            if budget.left < 0:
                raise TooManySteps
        return keyword(validator, value, instance, schema)

    return run
