"""The transport under :mod:`~wechat_bridge.channels.http`: connections of requests that can be cut from outside."""

from __future__ import annotations

import os
import socket
from http.client import HTTPResponse
from io import IOBase
from pathlib import Path
from ssl import SSLContext
from typing import Any, Literal, cast

from requests.adapters import HTTPAdapter
from requests.exceptions import InvalidProxyURL
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util.ssl_ import create_urllib3_context

from wechat_bridge.channels.inflight import current_call

_BUFFER_BYTES = 1024
"""An open poll holds its read buffer while it waits, for an answer of a few hundred bytes; usual are 8 KiB."""


def _report(sock: Any) -> None:
    call = current_call()
    if call is not None:
        call.use(getattr(sock, "socket", sock))  # TLS inside TLS (an https proxy) is an object around the real socket


class _SmallBuffer:
    """A socket as a response sees it: it asks for one thing only."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def makefile(self, mode: Literal["rb"]) -> IOBase:
        return self._sock.makefile(mode, _BUFFER_BYTES)


class SmallBufferResponse(HTTPResponse):
    """A response that is read through a small buffer, whatever its size."""

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(cast("socket.socket", _SmallBuffer(sock)), *args, **kwargs)


class CuttableHTTPConnection(HTTPConnection):
    """A connection that tells the current call which socket it uses, from before the first byte on."""

    response_class = SmallBufferResponse

    def _new_conn(self) -> socket.socket:
        sock = super()._new_conn()
        call = current_call()
        if call is not None:
            call.use_copy(sock)
        return sock

    def request(self, *args: Any, **kwargs: Any) -> None:
        """Send the request; opens the connection first where it is not open yet."""
        if self.sock is None:
            self.connect()
        _report(self.sock)
        super().request(*args, **kwargs)
        call = current_call()
        if call is not None:
            call.sent = True


class CuttableHTTPSConnection(CuttableHTTPConnection, HTTPSConnection):
    """The same over TLS."""


class CuttableHTTPPool(HTTPConnectionPool):
    """Keeps cuttable connections to one host."""

    ConnectionCls = CuttableHTTPConnection


class CuttableHTTPSPool(HTTPSConnectionPool):
    """Keeps cuttable TLS connections to one host."""

    ConnectionCls = CuttableHTTPSConnection


POOL_CLASSES = {"http": CuttableHTTPPool, "https": CuttableHTTPSPool}


class CuttableAdapter(HTTPAdapter):
    """The adapter of requests, with connections that can be cut and one TLS context for all of them.

    Left alone, every new connection would load the certificate bundle again (some 20 ms of CPU).
    """

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **pool_kwargs: Any) -> None:
        """Make the pools."""
        self._tls = _tls_context()
        super().init_poolmanager(connections, maxsize, block, ssl_context=self._tls, **pool_kwargs)
        self.poolmanager.pool_classes_by_scheme = POOL_CLASSES

    def proxy_manager_for(self, proxy: str, **proxy_kwargs: Any) -> Any:
        """Make the pools behind a proxy."""
        if proxy.lower().startswith("socks"):
            raise SocksProxyUnsupported(proxy)
        manager = super().proxy_manager_for(proxy, ssl_context=self._tls, **proxy_kwargs)
        manager.pool_classes_by_scheme = POOL_CLASSES
        return manager

    def cert_verify(self, conn: Any, url: Any, verify: Any, cert: Any) -> None:
        """Do nothing: the TLS context verifies, and has its certificates loaded already."""


class SocksProxyUnsupported(InvalidProxyURL):
    """The environment names a SOCKS proxy; set HTTPS_PROXY to an http:// one."""


def _tls_context() -> SSLContext:
    context = create_urllib3_context()
    bundle = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or DEFAULT_CA_BUNDLE_PATH
    if Path(bundle).is_dir():
        context.load_verify_locations(capath=bundle)
    else:
        context.load_verify_locations(cafile=bundle)
    return context
