"""The engines there are: our own, and those of installed packages."""

from __future__ import annotations

from importlib.metadata import entry_points

from wechat_bridge.engines.base import Engine
from wechat_bridge.engines.echo import EchoEngine

GROUP = "wechat_bridge.engines"


def load_engines() -> dict[str, Engine]:
    """Return every engine by name. A package adds one with an entry point of group ``wechat_bridge.engines``.

    The entry point names a callable without arguments that returns the engine; a name of ours is not replaced.
    """
    engines: dict[str, Engine] = {point.name: point.load()() for point in entry_points(group=GROUP)}
    return engines | {EchoEngine.name: EchoEngine()}
