from __future__ import annotations

import datetime
import ipaddress
import select
import socket
import ssl
import time
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.channels.calls import one_byte_at_a_time, wait_until
from tests.channels.scripted_server import Exchange, ScriptedServer, SilentHandshakeServer
from wechat_bridge.channels.http import CallCut, DeadlineExceeded, HttpAnswer, HttpClient, NotSent

_TLS_RECORD_THAT_NEVER_ENDS = b"\x16\x03\x03\x40\x00"


def get(client: HttpClient, url: str, total_seconds: float = 10.0, connect_seconds: float = 3.0) -> HttpAnswer:
    return client.get(url, {}, connect_seconds=connect_seconds, read_seconds=5.0, total_seconds=total_seconds)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate for 127.0.0.1 that signs itself, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "server.pem"
    plain = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    file.write_bytes(pem + made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def tls_server(certificate: Path) -> Iterator[ScriptedServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with ScriptedServer(lambda exchange: exchange.answer(b"{}"), tls=context) as running:
        yield running


@pytest.fixture
def trusting(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpClient]:
    """A client that trusts the certificate because the environment names it."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    with closing(HttpClient(pool_maxsize=5)) as client:
        yield client


@pytest.mark.parametrize("chunked", [False, True])
def test_an_answer_far_larger_than_the_buffer_is_whole(
    trusting: HttpClient, tls_server: ScriptedServer, chunked: bool
) -> None:
    body, long = bytes(range(256)) * 1500, "x" * 5000
    head = f"HTTP/1.1 200 OK\r\nX-Long: {long}\r\n"
    pieces = [body[at : at + 7000] for at in range(0, len(body), 7000)]
    in_chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    length = f"{head}Content-Length: {len(body)}\r\n\r\n".encode()
    coded = f"{head}Transfer-Encoding: chunked\r\n\r\n".encode()
    tls_server.script = lambda exchange: exchange.send(coded + in_chunks if chunked else length + body)
    answer = get(trusting, tls_server.url)
    assert answer.body == body
    assert answer.headers["x-long"] == long
    assert get(trusting, tls_server.url).body == body
    assert tls_server.connections_made == 1


def test_a_poll_that_waits_holds_little_memory_for_what_it_will_read(http: HttpClient, server: ScriptedServer) -> None:
    server.script = Exchange.hold
    polls = 20
    tracemalloc.start()
    try:
        with ThreadPoolExecutor(polls) as threads:
            held = [threads.submit(get, http, server.url) for _ in range(polls)]
            wait_until(lambda: len(server.received) == polls)
            of_sockets = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, socket.__file__)])
            http.cut_all()
            assert all(isinstance(call.exception(), CallCut) for call in held)
    finally:
        tracemalloc.stop()
    assert 1000 < sum(trace.size for trace in of_sockets.traces) / polls < 4000


def test_certificates_named_by_the_environment_are_trusted(trusting: HttpClient, tls_server: ScriptedServer) -> None:
    assert [get(trusting, tls_server.url).body for _ in range(2)] == [b"{}", b"{}"]
    assert tls_server.connections_made == 1


def test_a_certificate_nobody_knows_is_refused(http: HttpClient, tls_server: ScriptedServer) -> None:
    with pytest.raises(NotSent, match="certificate verify failed"):
        get(http, tls_server.url)


def test_a_certificate_for_another_name_is_refused(trusting: HttpClient, tls_server: ScriptedServer) -> None:
    with pytest.raises(NotSent, match="certificate verify failed"):
        get(trusting, f"https://localhost:{tls_server.port}")


def relay(exchange: Exchange) -> None:
    """Be the proxy of one tunnel."""
    host, _, port = exchange.request.path.partition(":")
    with socket.create_connection((host, int(port))) as target:
        exchange.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        other = {exchange.connection: target, target: exchange.connection}
        while True:
            for ready in select.select(list(other), [], [], 10)[0]:
                data = ready.recv(65536)
                if not data:
                    return
                other[ready].sendall(data)


def test_tls_goes_through_a_proxy_and_is_cut_there_too(
    trusting: HttpClient, tls_server: ScriptedServer, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script = relay
    monkeypatch.setenv("https_proxy", server.url)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert get(trusting, tls_server.url).body == b"{}"
    assert [request.method for request in server.received] == ["CONNECT"]
    tls_server.script = lambda exchange: exchange.drip(one_byte_at_a_time())
    with pytest.raises(DeadlineExceeded):
        get(trusting, tls_server.url, total_seconds=0.4)


def test_a_proxy_that_drips_is_cut(http: HttpClient, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.script = lambda exchange: exchange.drip(one_byte_at_a_time())
    monkeypatch.setenv("https_proxy", server.url)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(DeadlineExceeded):
        get(http, "https://wechat.invalid/", total_seconds=0.4)


def test_a_drip_inside_tls_is_cut(trusting: HttpClient, tls_server: ScriptedServer) -> None:
    def drip(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        exchange.drip(one_byte_at_a_time())

    tls_server.script = drip
    with pytest.raises(DeadlineExceeded):
        get(trusting, tls_server.url, total_seconds=0.5)


def test_a_poll_held_inside_tls_is_cut_when_the_process_stops(trusting: HttpClient, tls_server: ScriptedServer) -> None:
    tls_server.script = Exchange.hold
    with ThreadPoolExecutor(1) as pool:
        poll = pool.submit(get, trusting, tls_server.url)
        wait_until(lambda: bool(tls_server.received))
        trusting.cut_all()
        assert type(poll.exception(5)) is CallCut


def test_a_handshake_that_drips_is_cut(http: HttpClient) -> None:
    def drip_handshake(exchange: Exchange) -> None:
        exchange.send(_TLS_RECORD_THAT_NEVER_ENDS)
        exchange.drip(one_byte_at_a_time())

    with SilentHandshakeServer(drip_handshake) as server:
        began = time.monotonic()
        with pytest.raises(DeadlineExceeded):
            get(http, f"https://127.0.0.1:{server.port}", total_seconds=0.5)
        assert time.monotonic() - began < 2


def test_a_handshake_that_hangs_was_not_sent_and_is_no_quiet_poll(http: HttpClient) -> None:
    with SilentHandshakeServer(Exchange.hold) as server, pytest.raises(NotSent):
        get(http, f"https://127.0.0.1:{server.port}", connect_seconds=0.3)
