"""The environment in which the processes of one machine run."""

from __future__ import annotations

import os
import secrets
import sysconfig
from collections.abc import Mapping

from wechat_bridge.local.home import Home
from wechat_bridge.store.vault import KEYS_NAME, new_key

KEY_FILE = "secret-keys"
FLOWER_FILE = "flower-password"
STOP_GRACE_SECONDS = "8"
"""So that Ctrl-C is over within 15 s; the default suits servers that are told to stop by an orchestrator."""


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


def for_commands(home: Home) -> dict[str, str]:
    """Return what a command needs in order to reach the running ``up`` and its credentials, beyond its own environment.

    A command that was told of other servers is left alone.
    """
    published = home.published()
    if any(os.environ.get(name, value) != value for name, value in published.items()):
        return {}
    key = home.stored_secret(KEY_FILE)
    found = {**published, **({KEYS_NAME: key} if key else {})}
    return {name: value for name, value in found.items() if not os.environ.get(name)}
