"""What can be wrong with the data folder; both end the command at once."""

from __future__ import annotations

from pathlib import Path

from wechat_bridge.errors import BridgeError


class DataFolderInUse(BridgeError):
    """Another ``up`` runs on the data folder."""

    def __init__(self, root: Path) -> None:
        super().__init__(
            f"another `wechat-bridge up` uses {root}. Stop it first, or set WECHAT_BRIDGE_DATA_DIR to another folder"
        )


class DataFolderUnusable(BridgeError):
    """The data folder cannot be made, read or written."""

    def __init__(self, root: Path, error: OSError) -> None:
        super().__init__(
            f"the data folder {root} cannot be used ({error.strerror}): give this user access to it, "
            "or set WECHAT_BRIDGE_DATA_DIR to another folder"
        )
