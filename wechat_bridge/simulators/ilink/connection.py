"""What can be known about the other end of a TCP connection."""

from __future__ import annotations

import asyncio
import os
import socket


def peer_name(transport: asyncio.BaseTransport | None) -> str:
    """``host:port`` of the client, empty when the connection is gone."""
    address = transport.get_extra_info("peername") if transport is not None else None
    return f"{address[0]}:{address[1]}" if address else ""


def peer_has_left(transport: asyncio.BaseTransport | None) -> bool:
    """Whether the client has closed the connection, even if the event loop has not been told yet."""
    if transport is None or transport.is_closing():
        return True
    try:
        # A duplicate, because asyncio's own socket object refuses recv.
        with socket.socket(fileno=os.dup(transport.get_extra_info("socket").fileno())) as probe:
            return probe.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
