"""What every control command works with: the world and the sender of callbacks."""

from __future__ import annotations

from dataclasses import dataclass

from wechat_bridge.simulators.control_errors import ControlError
from wechat_bridge.simulators.wecom.app import App
from wechat_bridge.simulators.wecom.sender import CallbackSender
from wechat_bridge.simulators.wecom.world import World


@dataclass(frozen=True)
class Backstage:
    """One running server from behind."""

    world: World
    sender: CallbackSender

    def app(self, key: str) -> App:
        """The app of a key.

        Raises:
            ControlError: there is none.
        """
        if key not in self.world.apps:
            raise ControlError(f"there is no app {key!r}; make one with create_app")
        return self.world.apps[key]
