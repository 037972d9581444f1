from __future__ import annotations

import math
import socket
import threading
from collections.abc import Iterator

import pytest

from wechat_bridge.channels.inflight import Call, Cut, InFlight, current_call


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two connected ends that give up after five seconds."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(5)
        theirs.settimeout(5)
        yield ours, theirs


@pytest.fixture
def in_flight() -> Iterator[InFlight]:
    watched = InFlight()
    yield watched
    watched.close()


def test_a_call_cut_before_it_has_a_socket_loses_the_one_it_gets(pair: tuple[socket.socket, socket.socket]) -> None:
    call = Call(math.inf)
    call.end(Cut.STOP)
    call.use(pair[0])
    assert pair[0].recv(1) == b""


def test_a_socket_is_shut_through_its_copy_while_tls_wraps_it(pair: tuple[socket.socket, socket.socket]) -> None:
    call = Call(math.inf)
    call.use_copy(pair[0])
    call.end(Cut.DEADLINE)
    assert pair[0].recv(1) == b""
    call.close()


def test_a_copy_is_given_back_when_the_real_socket_is_known(pair: tuple[socket.socket, socket.socket]) -> None:
    call = Call(math.inf)
    call.use_copy(pair[0])
    call.use(pair[0])
    pair[0].close()
    assert pair[1].recv(1) == b""  # a copy that is still open would keep the connection open


def test_the_socket_of_a_call_that_has_ended_is_left_alone(
    in_flight: InFlight, pair: tuple[socket.socket, socket.socket]
) -> None:
    call = Call(math.inf)
    in_flight.enter(call)
    call.use(pair[0])
    in_flight.leave(call)
    in_flight.cut_all()
    pair[1].sendall(b"x")
    assert pair[0].recv(1) == b"x"
    assert call.cut is None


def test_a_call_is_current_in_its_own_thread_only(in_flight: InFlight) -> None:
    call = Call(math.inf)
    in_flight.enter(call)
    seen: list[Call | None] = []
    other = threading.Thread(target=lambda: seen.append(current_call()))
    other.start()
    other.join()
    assert (current_call(), seen) == (call, [None])
    in_flight.leave(call)
    assert current_call() is None


def test_a_deadline_that_has_passed_already_is_kept_at_once(
    in_flight: InFlight, pair: tuple[socket.socket, socket.socket]
) -> None:
    call = Call(0.0)
    in_flight.enter(call)
    call.use(pair[0])
    assert pair[0].recv(1) == b""
    assert call.cut is Cut.DEADLINE
    in_flight.leave(call)
