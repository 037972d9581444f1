"""Control commands of the operator in the WeCom console: apps, callback URLs, addresses, visible range, tokens."""

from __future__ import annotations

from typing import Any, Literal

from wechat_bridge.simulators.control_errors import ControlError
from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.app import App
from wechat_bridge.simulators.wecom.backstage import Backstage
from wechat_bridge.simulators.wecom.identifiers import new_corp_id, new_encoding_aes_key, random_text
from wechat_bridge.simulators.wecom.url_check import check_url as ask_url

CHANGEABLE = {
    "secret",
    "token",
    "encoding_aes_key",
    "callback_url",
    "visible_users",
    "trusted_ips",
    "enabled",
    "may_use_kf",
}


def create_app(
    stage: Backstage,
    corp_id: str = "",
    agent_id: str = "",
    secret: str = "",
    token: str = "",
    encoding_aes_key: str = "",
    callback_url: str = "",
) -> Json:
    """Make an app, of a new corp or of a given one; what is not given is made up. The URL is not checked here."""
    world = stage.world
    app = App(
        corp_id or new_corp_id(),
        int(agent_id or next(world.agent_ids)),
        secret or random_text(43),
        token or random_text(24),
        encoding_aes_key or new_encoding_aes_key(),
        callback_url,
    )
    if app.key in world.apps:
        raise ControlError(f"there is an app {app.key} already; leave agent_id out to get a new one")
    world.apps[app.key] = app
    return described(stage, app)


def apps(stage: Backstage) -> list[Json]:
    """Every app with its credentials."""
    return [described(stage, app) for app in stage.world.apps.values()]


def described(stage: Backstage, app: App) -> Json:
    """An app with all it takes to be its bridge."""
    return {**app.as_json(), "api_base_url": stage.world.base_url}


def set_app(stage: Backstage, app: str, changes: dict[str, Any]) -> Json:
    """Change what stands in the console for an app; null `visible_users` or `trusted_ips` lifts that restriction."""
    found = stage.app(app)
    if unknown := sorted(set(changes) - CHANGEABLE):
        raise ControlError(f"an app has no {', '.join(unknown)}; it has {', '.join(sorted(CHANGEABLE))}")
    for name, value in changes.items():
        setattr(found, name, value)
    return described(stage, found)


async def check_url(stage: Backstage, app: str, url: str = "") -> Json:
    """Check a callback URL (the app's own when none is given) as the console does."""
    found = stage.app(app)
    return await ask_url(stage.sender, found, url or found.callback_url, stage.world.options.url_check_seconds)


async def set_callback(stage: Backstage, app: str, url: str) -> Json:
    """Check a URL and, if it is good, make it the app's callback URL."""
    checked = await check_url(stage, app, url)
    if checked["ok"]:
        stage.app(app).callback_url = url
    return checked


def expire_token(stage: Backstage, app: str, errcode: Literal[40014, 42001] = 40014) -> bool:
    """Invalidate an app's access token before its time; False when it has none."""
    return stage.world.tokens.invalidate(stage.app(app), errcode)


COMMANDS = (create_app, apps, set_app, check_url, set_callback, expire_token)
