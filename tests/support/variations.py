"""The same world with one part changed: other settings, an engine of the test's own, a store that fails by name."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from tests.support.world import World
from wechat_bridge.channels.base import PollAnswer, PollingDoor
from wechat_bridge.engines.base import Answer, Question
from wechat_bridge.errors import BridgeError, OwnerStale
from wechat_bridge.live import Live
from wechat_bridge.model.channel import Account, ChannelKind
from wechat_bridge.model.worker import Judgement


def using(world: World, **parts: Any) -> World:
    """The world with some parts of its bridge replaced; ``settings`` are those in force."""
    if "settings" in parts:
        parts["live"] = Live(parts.pop("settings"))
    wired = dataclasses.replace(world.wired, bridge=dataclasses.replace(world.bridge, **parts))
    return dataclasses.replace(world, wired=wired)


def setting(world: World, group: str, **values: Any) -> World:
    """The world with some settings of a group changed."""
    settings = world.bridge.settings
    changed = getattr(settings, group).model_copy(update=values)
    return using(world, settings=settings.model_copy(update={group: changed}))


def failing(world: World, part: str, method: str, error: Exception, *, times: int = 1, after: int = 0) -> World:
    """The world in which one method of a part of the bridge fails ``times``, having worked ``after`` times."""
    real = getattr(getattr(world.bridge, part), method)
    calls = iter(range(10**9))

    def call(*args: Any, **kwargs: Any) -> Any:
        if after <= next(calls) < after + times:
            raise error
        return real(*args, **kwargs)

    return wrapping(world, part, method, call)


def unanswered(world: World, part: str, method: str, error: Exception) -> World:
    """The world in which one method of a part does its work once without its answer getting through."""
    real = getattr(getattr(world.bridge, part), method)
    calls = iter(range(10**9))

    def call(*args: Any, **kwargs: Any) -> Any:
        answer = real(*args, **kwargs)
        if next(calls) == 0:
            raise error
        return answer

    return wrapping(world, part, method, call)


def wrapping(world: World, part: str, method: str, call: Callable[..., Any]) -> World:
    """The world in which one method of a part of the bridge is another function."""
    changed = copy.copy(getattr(world.bridge, part))
    object.__setattr__(changed, method, call)
    return using(world, **{part: changed})


class ScriptedEngine:
    """Answers as it is told, one after the other, the last for ever; remembers what it was asked."""

    name = "echo"

    def __init__(self, *answers: str | Exception) -> None:
        self._answers = list(answers)
        self.asked: list[Question] = []

    def answer(self, question: Question) -> Answer:
        """Give the next answer, or raise it."""
        self.asked.append(question)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return Answer(text=answer, model="scripted", prompt_tokens=1, completion_tokens=2, finish_reason="stop")


def engine(world: World, *answers: str | Exception) -> tuple[World, ScriptedEngine]:
    """The world with an engine that answers so, and the engine."""
    scripted = ScriptedEngine(*answers)
    return using(world, engines={"echo": scripted}), scripted


class OwnDoor:
    """Lets sends succeed or fail as told, and remembers them; polls are refused."""

    def __init__(self, *outcomes: BridgeError | str | None) -> None:
        self._outcomes = list(outcomes)
        self.sent: list[tuple[str, str, str]] = []

    def poll(self, account: Account, cursor: str, hold_hint_seconds: float | None) -> PollAnswer:
        """Nothing is polled through this door."""
        raise AssertionError("this test does not poll")

    def send_text(self, account: Account, user_id: str, text: str, client_id: str, context_token: str) -> str | None:
        """Send, with the next outcome; without one it is accepted."""
        self.sent.append((text, client_id, context_token))
        outcome = self._outcomes.pop(0) if self._outcomes else f"id-{len(self.sent)}"
        if isinstance(outcome, BridgeError):
            raise outcome
        return outcome

    def set_typing(self, account: Account, user_id: str, *, is_typing: bool) -> None:
        """Nobody sees it."""

    @property
    def texts(self) -> list[str]:
        """The texts sent, refused ones too."""
        return [text for text, _, _ in self.sent]


def door(world: World, *outcomes: BridgeError | str | None) -> tuple[World, OwnDoor]:
    """The world with a door whose sends go so, and the door."""
    own = OwnDoor(*outcomes)
    doors: dict[ChannelKind, PollingDoor] = {ChannelKind.ILINK: own}
    return using(world, doors=doors), own


class Witness:
    """A process that is alive or not, and knows who is dead."""

    def __init__(self, owner: str, dead: Sequence[str] = (), stale: bool = False) -> None:
        self.owner = owner
        self._dead = dead
        self.stale = stale
        self.next_death_seconds: float | None = None

    def check(self) -> None:
        """Raise OwnerStale if this process is not alive."""
        if self.stale:
            raise OwnerStale

    def dead_owners(self) -> Sequence[str]:
        """The owners that are dead."""
        return self._dead

    def judge(self) -> Judgement:
        """The owners that are dead, and when the next one is."""
        return Judgement(self._dead, self.next_death_seconds)


def process(world: World, owner: str, dead: Sequence[str] = (), *, stale: bool = False) -> World:
    """The world as another process sees it."""
    return using(world, alive=Witness(owner, dead, stale))
