"""The environment in which the processes of one machine run, and what other commands learn of it."""

from __future__ import annotations

import os
import secrets
import sysconfig
from collections.abc import Mapping

from wechat_bridge.local.home import Home
from wechat_bridge.settings import PREFIX
from wechat_bridge.store.vault import KEYS_NAME, new_key

KEY_FILE = "secret-keys"
FLOWER_FILE = "flower-password"
STOP_GRACE_SECONDS = "8"
"""So that Ctrl-C is over within 15 s; the default suits servers that are told to stop by an orchestrator."""

SERVERS = ("REDIS_URL", "MONGODB_URL")
NOT_SHARED = frozenset({f"{PREFIX}DATA_DIR", f"{PREFIX}START_WAIT_SECONDS"})
"""Settings of ``up`` that are a command's own affair: where it looked for ``up``, and how patient it is."""

PUBLIC_ADDRESS = "PUBLIC_BASE_URL"
"""Without the prefix, as the field knows it; what a command prints for WeCom's console contains it."""

ENGINES = f"{PREFIX}ENGINES"
"""Of this setting the parts make sense together only: all of them are one shell's."""


def own_secrets(home: Home) -> dict[str, str]:
    """Return the installation's secrets as variables, made on first use; those of the surrounding shell win."""
    made = {
        KEYS_NAME: home.secret(KEY_FILE, new_key),
        "FLOWER_BASIC_AUTH": home.secret(FLOWER_FILE, lambda: f"admin:{secrets.token_urlsafe(24)}"),
    }
    return {name: os.environ.get(name) or value for name, value in made.items()}


def for_processes(home: Home, variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a child: this one, the installation's secrets, then ``variables``."""
    scripts = sysconfig.get_path("scripts")  # where celery and uvicorn are, also when the environment is not activated
    return {
        **os.environ,
        "PATH": f"{scripts}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "PYTHONUNBUFFERED": "1",
        "WECHAT_BRIDGE_STOP_GRACE_SECONDS": STOP_GRACE_SECONDS,
        **own_secrets(home),
        **variables,
    }


def for_others(urls: Mapping[str, str]) -> dict[str, str]:
    """Return what ``up`` tells other commands: where its servers are, and every setting of its own environment."""
    return {**{name: value for name, value in os.environ.items() if _is_shared(name)}, **urls}


def for_commands(home: Home) -> dict[str, str]:
    """Return what a command needs in order to work as the running ``up`` does, beyond its own environment: its servers,
    its settings, engines and their keys among them, and the key of the stored credentials.

    What the command's own environment sets stays; engines that it describes stay alone. A command that was told of
    other servers is left alone.
    """
    published = home.published()
    if any(os.environ.get(name, value) != value for name, value in published.items() if name in SERVERS):
        return {}
    key = home.stored_secret(KEY_FILE)
    found = {**({KEYS_NAME: key} if key else {}), **published}
    return {name: value for name, value in found.items() if not _is_set(name)}


def _is_shared(name: str) -> bool:
    """Whether it is one of the bridge's settings, whose names count in any case."""
    own = name.upper()
    return (own.startswith(PREFIX) and own not in NOT_SHARED) or own == PUBLIC_ADDRESS


def _is_set(name: str) -> bool:
    """Whether this process's own environment decides about a variable."""
    own = {each.upper() for each, value in os.environ.items() if value}
    is_engine = name.upper().startswith(ENGINES)
    return name.upper() in own or (is_engine and any(each.startswith(ENGINES) for each in own))
