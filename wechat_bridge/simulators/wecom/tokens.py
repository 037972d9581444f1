"""Access tokens: one per app, the same while it is valid, and who may ask for them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.app import App
from wechat_bridge.simulators.wecom.call import Call
from wechat_bridge.simulators.wecom.codes import ApiError
from wechat_bridge.simulators.wecom.identifiers import new_access_token
from wechat_bridge.simulators.wecom.limits import HOUR_SECONDS


@dataclass
class IssuedToken:
    """One token; `dead_code` is what it is answered with since it was invalidated early, 0 before."""

    app: App
    expires_at: float
    dead_code: int = 0


class Tokens:
    """Every token given out, and who asked with wrong secrets."""

    def __init__(self) -> None:
        self._issued: dict[str, IssuedToken] = {}
        self._wrong_secrets: Counter[str] = Counter()
        self._banned_until: dict[str, float] = {}

    def app_of(self, token: str, now: float) -> App:
        """The app a token stands for.

        Raises:
            ApiError: 41001 none given, 40014 unknown or invalidated, 42001 expired.
        """
        if not token:
            raise ApiError(41001)
        issued = self._issued.get(token)
        if issued is None:
            raise ApiError(40014)
        if issued.dead_code:
            raise ApiError(issued.dead_code)
        if now >= issued.expires_at:
            raise ApiError(42001)
        return issued.app

    def owner(self, token: str) -> str:
        """The key of the app a token was given to, good or not; empty for an unknown one."""
        issued = self._issued.get(token)
        return issued.app.key if issued else ""

    def valid(self, app: App, now: float) -> IssuedToken | None:
        """The token of an app, if it has one that is good."""
        issued = self._issued.get(app.access_token)
        return issued if issued and not issued.dead_code and now < issued.expires_at else None

    def issue(self, app: App, expires_at: float) -> IssuedToken:
        """Give an app a new token."""
        app.access_token = new_access_token()
        issued = self._issued[app.access_token] = IssuedToken(app, expires_at)
        return issued

    def invalidate(self, app: App, errcode: int) -> bool:
        """End the token of an app before its time; False when it has none."""
        issued = self._issued.get(app.access_token)
        if issued:
            issued.dead_code = errcode
        return issued is not None

    def banned(self, source_ip: str, now: float) -> bool:
        """Whether an address may not ask for tokens now."""
        return now < self._banned_until.get(source_ip, 0.0)

    def note_wrong_secret(self, source_ip: str, most: int, now: float) -> None:
        """Count a wrong secret; the address is banned for an hour when it is one too many."""
        self._wrong_secrets[source_ip] += 1
        if self._wrong_secrets[source_ip] >= most:
            self._wrong_secrets[source_ip] = 0
            self._banned_until[source_ip] = now + HOUR_SECONDS


def gettoken(call: Call) -> Json:
    """``GET gettoken``: 40013 for an unknown corp, 40001 for a wrong secret or a disabled app, 45009 when banned."""
    world, now = call.world, call.world.now()
    limited = world.limits.exceeded(("gettoken", call.source_ip), world.options.gettoken_per_hour, HOUR_SECONDS, now)
    if limited or world.tokens.banned(call.source_ip, now):
        raise ApiError(45009)
    app = call.known_app = _app_with_secret(call)
    issued = world.tokens.valid(app, now)
    if issued is None or world.options.token_renewal == "rotate":
        world.tokens.invalidate(app, 40014)
        issued = world.tokens.issue(app, now + world.options.token_lifetime_seconds)
    return {"access_token": app.access_token, "expires_in": int(issued.expires_at - now)}


def _app_with_secret(call: Call) -> App:
    corp_id, secret = call.query.get("corpid", ""), call.query.get("corpsecret", "")
    world = call.world
    if not world.apps_of(corp_id):
        raise ApiError(40013)
    for app in world.apps.values():
        if app.secret == secret and app.corp_id != corp_id:
            raise ApiError(40091)
        if app.secret == secret and app.enabled:
            return app
    world.tokens.note_wrong_secret(call.source_ip, world.options.wrong_secrets_until_ban, world.now())
    raise ApiError(40001)
