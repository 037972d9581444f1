"""A process that cannot start ends, with a message; whoever supervises it starts it again."""

from __future__ import annotations

import re
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.system import System, wait_until
from wechat_bridge.simulators.ilink import IlinkSimulator

pytestmark = pytest.mark.story

NOWHERE = "redis://127.0.0.1:1/0"


class _Vanishing(socketserver.BaseRequestHandler):
    """A Redis that answers pings and breaks the connection when it is asked for more."""

    def handle(self) -> None:
        while data := self.request.recv(65536):
            for command in re.split(rb"\*\d+\r\n", data)[1:]:
                if b"\r\nINFO\r\n" in command:
                    return
                self.request.sendall(b"%1\r\n+proto\r\n:3\r\n" if b"HELLO" in command else b"+OK\r\n")


@pytest.fixture
def vanishing() -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Vanishing) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"redis://127.0.0.1:{server.server_address[1]}/0"
        server.shutdown()
        thread.join()


def ended(redis_url: str, urls: tuple[str, str], folder: Path, simulator: IlinkSimulator) -> dict[str, str]:
    """Start a worker and a beat with this Redis; return what each said before it ended."""
    own = {"REDIS_URL": redis_url, "WECHAT_BRIDGE_START_WAIT_SECONDS": "0.1"}
    system = System(urls, folder, simulator.control, simulator.base_url, **own)
    children = {kind: system.start(kind, threads=2) for kind in ("reply", "beat")}
    try:
        wait_until(lambda: not any(child.alive for child in children.values()), 20, "both processes end")
        assert {child.exit_code for child in children.values()} == {1}
    finally:
        for child in children.values():
            child.kill()
        system.wired.close()
    return {kind: system.log_of(kind) for kind in children}


@pytest.mark.slow
def test_a_process_that_does_not_reach_redis_ends(
    urls: tuple[str, str], tmp_path: Path, simulator: IlinkSimulator
) -> None:
    for said in ended(NOWHERE, urls, tmp_path, simulator).values():
        assert "wechat_bridge does not start: Redis at 127.0.0.1:1 did not answer" in said


@pytest.mark.slow
def test_a_process_whose_redis_goes_away_while_it_starts_ends(
    vanishing: str, urls: tuple[str, str], tmp_path: Path, simulator: IlinkSimulator
) -> None:
    for said in ended(vanishing, urls, tmp_path, simulator).values():
        assert "wechat_bridge does not start: Connection closed by server" in said
