"""No call to Redis takes longer than its caller allows, whatever Redis does; one that works again is used again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from redis.exceptions import RedisError

from tests.support.frozen import frozen
from tests.support.together import together
from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.local.ports import free_port
from wechat_bridge.local.services import RedisServer
from wechat_bridge.store import broker
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.event_claims import EventClaims
from wechat_bridge.store.time_limit import LimitedSslConnection, LimitedUnixConnection, time_limit

WITHIN = 0.2
SLACK = 0.25
"""Two cores shared with other tests may wake a thread late; one step more than allowed would be 0.2 s for each."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis") / "data") as running:
        yield running


@pytest.fixture
def client(server: RedisServer) -> Iterator[RedisClient]:
    """Three connections, and a database that has to be selected."""
    with broker.connect_limited(f"{server.url[:-1]}3", pool_size=3) as connected:
        yield connected


def failing_seconds(act: Callable[[], object]) -> float:
    """How long a call took that had to fail."""
    started = time.monotonic()
    with pytest.raises(BrokerUnavailable):
        act()
    return time.monotonic() - started


def claim(claims: EventClaims, key: str) -> object:
    return claims.claim([key], "me", 30.0, WITHIN)


def test_d1_a_frozen_redis_costs_the_time_allowed_and_no_more(server: RedisServer, client: RedisClient) -> None:
    claims = EventClaims(client)
    claim(claims, "known")
    with frozen(server):
        connected, fresh = (failing_seconds(lambda: claim(claims, "away")) for _ in range(2))
        assert WITHIN * 0.9 <= connected < WITHIN + SLACK
        assert WITHIN * 0.9 <= fresh < WITHIN + SLACK
    assert claim(claims, "back")


def test_d1_fifty_callers_that_share_three_connections_wait_no_longer(server: RedisServer, client: RedisClient) -> None:
    claims = EventClaims(client)
    claim(claims, "known")
    with frozen(server):
        slowest = max(together(50, lambda number: failing_seconds(lambda: claim(claims, f"away-{number}"))))
    assert slowest < WITHIN + 2 * SLACK
    assert claim(claims, "back")


def test_d1_a_pool_whose_connections_are_all_in_use_is_waited_for_no_longer(client: RedisClient) -> None:
    claims = EventClaims(client)
    held = [client.connection_pool.get_connection() for _ in range(3)]
    assert failing_seconds(lambda: claim(claims, "no connection")) < WITHIN + SLACK
    for connection in held:
        client.connection_pool.release(connection)
    assert claim(claims, "again")


def test_d1_a_redis_that_refuses_is_known_at_once() -> None:
    with broker.connect_limited(f"redis://127.0.0.1:{free_port()}/0") as nobody:
        assert failing_seconds(lambda: claim(EventClaims(nobody), "refused")) < WITHIN


def test_d1_a_server_that_drips_its_greeting_is_cut_at_the_same_time() -> None:
    with _Dripping() as server, broker.connect_limited(f"redis://127.0.0.1:{server.port}/1") as client:
        assert failing_seconds(lambda: claim(EventClaims(client), "drip")) < WITHIN + SLACK


def test_connections_that_died_with_a_redis_fail_nobody_once_it_is_back(
    server: RedisServer, client: RedisClient
) -> None:
    claims = EventClaims(client)
    held = [client.connection_pool.get_connection() for _ in range(3)]
    for connection in held:
        client.connection_pool.release(connection)
    server.kill()
    server.start()
    assert all(together(3, lambda number: claim(claims, f"restarted-{number}")))


def test_a_late_answer_is_never_taken_for_that_of_the_next_call(server: RedisServer, client: RedisClient) -> None:
    with time_limit(WITHIN):
        client.set("who", "first")
    with frozen(server), time_limit(0.05), pytest.raises(RedisError):
        client.get("who")
    with time_limit(5.0):
        assert client.echo("second") == "second"


def test_time_that_is_up_fails_a_call_before_anything_is_sent(client: RedisClient) -> None:
    with time_limit(5.0):
        client.set("mark", "before")
    with time_limit(0.0), pytest.raises(RedisError):
        client.set("mark", "after")
    with time_limit(5.0):
        assert client.get("mark") == "before"


def test_limits_of_threads_are_apart_and_end_with_their_block(client: RedisClient) -> None:
    inside, outside = threading.Event(), threading.Event()

    def hurried() -> None:
        with time_limit(0.0):
            inside.set()
            outside.wait(10)

    thread = threading.Thread(target=hurried)
    thread.start()
    assert inside.wait(10)
    assert client.ping()
    outside.set()
    thread.join()


@pytest.mark.parametrize(
    ("url", "kind"), [("rediss://host/1", LimitedSslConnection), ("unix:///run/redis.sock", LimitedUnixConnection)]
)
def test_the_way_to_redis_is_that_of_its_url(url: str, kind: type) -> None:
    with broker.connect_limited(url) as client:
        assert client.connection_pool.connection_class is kind


class _Dripping:
    """Answers a byte every 50 ms, each well within any timeout of a socket."""

    def __enter__(self) -> _Dripping:
        import socketserver

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                try:
                    self.request.recv(4096)
                    for byte in b"+" + b"x" * 100:
                        self.request.sendall(bytes([byte]))
                        time.sleep(0.05)
                except OSError:
                    return

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
