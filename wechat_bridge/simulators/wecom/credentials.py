"""What the bridge of one app must know."""

from __future__ import annotations

from typing import TypedDict


class AppCredentials(TypedDict):
    """An app as the console shows it. `app` is how control commands name it."""

    app: str
    corp_id: str
    agent_id: str
    secret: str
    token: str
    encoding_aes_key: str
    callback_url: str
    visible_users: list[str] | None
    trusted_ips: list[str] | None
    enabled: bool
    api_base_url: str
