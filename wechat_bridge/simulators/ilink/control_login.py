"""Control commands around QR logins: be the person who scans, types the number and confirms, or script every status."""

from __future__ import annotations

from typing import Any

from pydantic import NonNegativeFloat, NonNegativeInt

from wechat_bridge.simulators.control_errors import ControlError
from wechat_bridge.simulators.ilink import login
from wechat_bridge.simulators.ilink.world import World
from wechat_bridge.simulators.json_types import Json


def login_of(world: World, qrcode: str) -> login.Login:
    """The login of a code.

    Raises:
        ControlError: it was never given out.
    """
    if qrcode not in world.logins:
        raise ControlError(f"no QR code {qrcode!r} was given out; list them with qrcodes")
    return world.logins[qrcode]


async def qrcodes(
    world: World, after: NonNegativeInt = 0, count: NonNegativeInt = 0, timeout_seconds: NonNegativeFloat = 0.0
) -> list[Json]:
    """The codes given out beyond the first `after`, oldest first; waits until there are `count` or the time is up."""
    await world.logins_changed.wait_until(lambda: len(world.logins) >= after + count, timeout_seconds)
    return [as_row(each) for each in list(world.logins.values())[after:]]


def as_row(each: login.Login) -> Json:
    """One code as JSON, without credentials."""
    return {
        "qrcode": each.qrcode,
        "status": each.status["status"],
        "user_id": each.user_id,
        "local_tokens": len(each.local_tokens),
        "wrong_codes": each.wrong_codes,
    }


def scan(world: World, qrcode: str, verify_code: str = "") -> bool:
    """Scan a code: `scaned`, or `need_verifycode` until that number is sent along."""
    if verify_code:
        login_of(world, qrcode).ask_for_code(verify_code)
    else:
        login_of(world, qrcode).show([{"status": "scaned"}])
    return True


def confirm(
    world: World,
    qrcode: str,
    user_id: str,
    bot_id: str = "",
    fields: dict[str, Any] | None = None,
    omit: list[str] | None = None,
) -> Json:
    """Confirm a code as this user. Returns the status told, changed by `fields` and without the names in `omit`."""
    status = login.confirm(world, login_of(world, qrcode), user_id, bot_id)
    status.update(fields or {})
    for name in omit or ():
        status.pop(name, None)
    return status


def show_statuses(world: World, qrcode: str, statuses: list[Json]) -> bool:
    """Tell these statuses (`{"status": ..., ...}`) as they are, one per request, the last one from then on."""
    if not statuses or not all(isinstance(each.get("status"), str) for each in statuses):
        raise ControlError('statuses must be a list of at least one {"status": "..."}')
    login_of(world, qrcode).show(statuses)
    return True


COMMANDS = (qrcodes, scan, confirm, show_statuses)
