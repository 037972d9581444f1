"""The folder of an installation on one machine: its data, logs, secrets, and who uses it now.

::

    data/       Redis and MongoDB
    logs/       one log per process
    run/env     the running ``up``: where its servers are reached, and its settings, keys of engines among them
    run/lock    held while ``up`` runs
    secret-keys      Fernet key for the stored credentials; without it they cannot be read
    flower-password  user and password of the Flower page
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from wechat_bridge.local.errors import DataFolderInUse, DataFolderUnusable

LOCK_SECONDS = 0.5
"""A command that looks whether ``up`` runs holds the lock for an instant."""

PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600


class Home:
    """The data folder ``root``, made when it is needed, readable by its owner alone."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self.data = self.root / "data"
        self.logs = self.root / "logs"
        self.run = self.root / "run"
        self._env = self.run / "env"
        self._lock = self.run / "lock"

    def create(self) -> None:
        """Make the folders. Raises DataFolderUnusable."""
        try:
            for folder in (self.root, self.data, self.logs, self.run):
                folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        except OSError as error:
            raise DataFolderUnusable(self.root, error) from None

    def secret(self, name: str, make: Callable[[], str]) -> str:
        """Return the secret stored under ``name``; the first time, make and store it. Raises DataFolderUnusable."""
        path = self.root / name
        try:
            if not path.exists():
                _write_private(path, make())
            return path.read_text().strip()
        except OSError as error:
            raise DataFolderUnusable(self.root, error) from None

    def stored_secret(self, name: str) -> str | None:
        """Return the secret stored under ``name``, or None when there is none or it cannot be read."""
        try:
            return (self.root / name).read_text().strip()
        except OSError:
            return None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Use the folder alone; the system frees it however this process ends. Raises DataFolderInUse."""
        self.create()
        with self._lock.open("a") as file:
            deadline = time.monotonic() + LOCK_SECONDS
            while not _try_lock(file.fileno(), fcntl.LOCK_EX):
                if time.monotonic() > deadline:
                    raise DataFolderInUse(self.root)
                time.sleep(0.05)
            self._env.unlink(missing_ok=True)  # of one that was killed
            try:
                yield
            finally:
                self._env.unlink(missing_ok=True)

    @property
    def in_use(self) -> bool:
        """Whether an ``up`` uses the folder now."""
        try:
            with self._lock.open() as file:
                return not _try_lock(file.fileno(), fcntl.LOCK_SH)
        except OSError:
            return False

    def publish(self, variables: Mapping[str, str]) -> None:
        """Tell other commands of this user how to reach the servers, and with which settings."""
        _write_private(self._env, json.dumps(dict(variables), indent=2))

    def published(self) -> dict[str, str]:
        """Return what the running ``up`` told; empty when none runs, or when it has not got so far."""
        if not (self.in_use and self._env.exists()):
            return {}
        told: dict[str, str] = json.loads(self._env.read_text())
        return told


def _write_private(path: Path, text: str) -> None:
    """Write a file that others cannot read, in one step."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    draft.replace(path)


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
