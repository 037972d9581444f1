"""Steps that tests of QR logins share: a channel, its login in progress, and the phone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tests.support.doorbells import taken
from tests.support.world import World
from wechat_bridge.flow.login.start import start_login
from wechat_bridge.flow.login.step import take_step
from wechat_bridge.model.login import QrLogin

CONFIRMED = {"status": "confirmed", "bot_token": "b1@im.bot:SECRET", "ilink_bot_id": "b1@im.bot"}


@dataclass
class Scan:
    """A login of a world's channel, followed step by step."""

    world: World

    @classmethod
    def begin(cls, world: World, *statuses: dict[str, Any]) -> Scan:
        """Begin a login whose code will have these statuses."""
        scan = cls(world)
        start_login(world.bridge, world.share_id, world.control.base_url)
        scan.show(*statuses)
        return scan

    def on(self, world: World) -> Scan:
        """The same login as another variation of the world sees it."""
        return replace(self, world=world)

    def show(self, *statuses: dict[str, Any]) -> None:
        """Let WeChat tell these statuses of the code that is shown now, the last one from then on."""
        if statuses:
            self.world.control.show_statuses(self.login.qrcode, *statuses)

    @property
    def login(self) -> QrLogin:
        """The login as it stands."""
        found = self.world.bridge.logins.get(self.world.share_id)
        assert found is not None
        return found

    def step(self, times: int = 1) -> QrLogin:
        """Do the next steps, without waiting for their time; return the login as it stands then."""
        for _ in range(times):
            login = self.login
            take_step(self.world.bridge, login.share_id, login.id, login.step)
        return self.login

    def rung(self) -> list[list[Any]]:
        """Take the doorbells for steps of this login from their queue; return their arguments."""
        return [bell.args for bell in taken(self.world, "management") if bell.task == "follow_login"]

    def confirm(self, user: str = "", **changes: Any) -> dict[str, Any]:
        """Confirm on the phone, as this WeChat user; return what WeChat tells."""
        user = user or f"scanner-{self.world.share_id}@im.wechat"
        return self.world.control.confirm(self.login.qrcode, user, **changes)
