"""One line of a Procfile as a process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from honcho.environ import parse_procfile

import wechat_bridge
from wechat_bridge.errors import NotConfigured
from wechat_bridge.local.managed import Managed


class Program(Managed):
    """Runs a command line of the shell; a line that starts with ``exec`` becomes the process itself."""

    def __init__(self, name: str, line: str, directory: Path, log: Path, env: Mapping[str, str]) -> None:
        super().__init__(name, directory, log, env)
        self.line = line

    def command(self) -> list[str]:
        """Return the line as a command of sh."""
        return ["/bin/sh", "-c", self.line]


def read_procfile(path: Path) -> dict[str, str]:
    """Return the command line of each process by its name, in the file's order."""
    return dict(parse_procfile(path.read_text()).processes)


def bundled_procfile() -> Path:
    """Return the bridge's own Procfile: inside the installed package, beside it in a checkout. Raises NotConfigured."""
    package = Path(wechat_bridge.__file__).parent
    for path in (package / "Procfile", package.parent / "Procfile"):
        if path.is_file():
            return path
    raise NotConfigured(f"there is no Procfile in {package}: the installation is damaged, install the bridge again")
