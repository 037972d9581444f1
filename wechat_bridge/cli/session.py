"""The bridge as commands use it: connected, checked, and closed afterwards."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from wechat_bridge import wiring
from wechat_bridge.local.environment import for_commands
from wechat_bridge.local.home import Home
from wechat_bridge.model.keys import is_share_id
from wechat_bridge.observe import logging
from wechat_bridge.settings import PREFIX, data_dir
from wechat_bridge.wiring import Wired

START_WAIT_SECONDS = "5"
"""A person waits for the command; a worker waits longer for its servers."""


@contextmanager
def connected(prepare: bool = True) -> Iterator[Wired]:
    """Reach the servers of the environment, else those of the `up` that runs on the data folder, with its settings;
    close afterwards.

    With ``prepare`` the servers are waited for and indexes built: raises ServiceNotReachable, SettingsError,
    IndexNotBuilt and LedgerTooNew.
    """
    os.environ.update(for_commands(Home(data_dir())))
    os.environ.setdefault(f"{PREFIX}START_WAIT_SECONDS", START_WAIT_SECONDS)
    with own_bridge(prepare) as wired:
        yield wired


@contextmanager
def own_bridge(prepare: bool = True) -> Iterator[Wired]:
    """Build the bridge of this process from its environment; see ``connected``."""
    logging.configure("console", "WARNING")  # stdout is for results
    wired = wiring.wired()
    try:
        if prepare:
            wired.prepare()
        yield wired
    finally:
        wired.close()


def valid_share_id(value: str) -> str:
    """Return the name of a channel. Raises BadParameter, a usage error."""
    if not is_share_id(value):
        raise typer.BadParameter(f"{value!r} should be 1 to 32 lower-case letters, digits and hyphens")
    return value


def who() -> str:
    """Return who runs the command, for the record."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError, ImportError):
        user = "unknown"
    return f"{user}@{socket.gethostname()}"
