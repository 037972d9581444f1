"""The data folder."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from wechat_bridge.local.errors import DataFolderInUse, DataFolderUnusable
from wechat_bridge.local.home import Home


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folders_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "deep" / "home")
    home.create()
    assert [mode(folder) for folder in (home.root, home.data, home.logs, home.run)] == [0o700] * 4


def test_a_secret_is_made_once_and_readable_by_its_owner_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert home.secret("key", lambda: "first") == "first"
    assert home.secret("key", lambda: "second") == "first"
    assert mode(tmp_path / "key") == 0o600
    assert home.stored_secret("key") == "first"
    assert home.stored_secret("other") is None


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataFolderUnusable, match=r"file/home cannot be used.*WECHAT_BRIDGE_DATA_DIR"):
        Home(tmp_path / "file" / "home").create()


def test_a_secret_that_cannot_be_stored_names_the_folder(tmp_path: Path) -> None:
    with pytest.raises(DataFolderUnusable, match="nowhere cannot be used"):
        Home(tmp_path / "nowhere").secret("key", lambda: "value")


def test_a_second_up_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with home.locked():
        refused = Home(tmp_path).locked()
        with pytest.raises(DataFolderInUse, match=r"another `wechat-bridge up` uses .*Stop it first"):
            refused.__enter__()
    with Home(tmp_path).locked():
        assert home.in_use


def test_the_addresses_are_published_only_while_up_runs(tmp_path: Path) -> None:
    home, reader = Home(tmp_path), Home(tmp_path)
    assert reader.published() == {}
    with home.locked():
        assert reader.published() == {}
        home.publish({"REDIS_URL": "redis://h:1/0", "MONGODB_URL": "mongodb://h:2/?a=b"})
        assert reader.published() == {"REDIS_URL": "redis://h:1/0", "MONGODB_URL": "mongodb://h:2/?a=b"}
        assert mode(home.run / "env") == 0o600
    assert reader.published() == {}


CRASH = """
import os, sys
from pathlib import Path
from wechat_bridge.local.home import Home
home = Home(Path(sys.argv[1]))
with home.locked():
    home.publish({"REDIS_URL": "redis://gone:1/0"})
    os._exit(9)
"""


def test_what_a_killed_up_left_behind_misleads_nobody(tmp_path: Path, repository: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CRASH, str(tmp_path)], cwd=repository, check=False, env=os.environ)
    assert done.returncode == 9
    home = Home(tmp_path)
    assert (home.run / "env").exists()
    assert home.published() == {}
    with home.locked():
        assert home.published() == {}
