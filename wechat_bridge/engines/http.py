"""HTTP to reply engines: a deadline for the whole, a longest silence, bounded bodies, errors without secrets."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.utils import get_environ_proxies
from urllib3.exceptions import HTTPError as Urllib3Error

from wechat_bridge.engines.deadline import Deadline, DeadlineAdapter, use_deadline
from wechat_bridge.engines.failures import Failures, error_text
from wechat_bridge.engines.sse import Event, events
from wechat_bridge.errors import EngineRefused, EngineUnavailable

CONNECT_SECONDS = 10.0
MOST_BODY_BYTES = 16 * 1024 * 1024
"""A stream needs some 300 bytes for each token of its text."""

MOST_ERROR_BYTES = 64 * 1024
FINISH_SECONDS = 0.05
FINISH_PIECES = 8
EVENT_STREAM = "text/event-stream"
_BEGINNINGS = (b"data:", b"event:", b":")
_PIECE_BYTES = 65536
_FAILURES = (requests.RequestException, Urllib3Error, HTTPException, OSError, ValueError)


class EngineHttp:
    """One per process, shared by all its threads. Making it opens no connection.

    Proxies and certificates from the environment (``HTTPS_PROXY``, ``NO_PROXY``, ``REQUESTS_CA_BUNDLE``) are honoured;
    redirects and cookies are not.
    """

    def __init__(self, pool_maxsize: int) -> None:
        logging.getLogger("urllib3.connectionpool").setLevel(logging.INFO)  # its debug lines carry whole addresses
        self.adapter = DeadlineAdapter(pool_connections=64, pool_maxsize=pool_maxsize)

    def close(self) -> None:
        """Close the idle connections."""
        self.adapter.close()


@dataclass
class Reply:
    """An answer whose body is still to be read, within ``deadline``."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    _raw: Any = field(repr=False)
    _failures: Failures
    _deadline: Deadline

    @property
    def is_stream(self) -> bool:
        """Whether the body is a stream of events."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower() == EVENT_STREAM

    def pieces(self) -> Iterator[bytes]:
        """Yield the body as it comes. Raises EngineUnavailable, and EngineRefused when it is too large."""
        size = 0
        while piece := self._next():
            size += len(piece)
            if size > MOST_BODY_BYTES:
                raise self._failures.refused(f"the answer is larger than {MOST_BODY_BYTES >> 20} MiB")
            yield piece

    def read(self) -> bytes:
        """Return the whole body; raises like ``pieces``."""
        return b"".join(self.pieces())

    def said(self) -> Iterator[Event] | dict[str, Any]:
        """Return the events of a stream, or the object of an answer that came at once.

        Where the header does not tell, the beginning of the body does: some servers call a stream plain text, and some
        stream only what they like to. Raises like ``pieces`` and ``json``.
        """
        if self.is_stream:
            return events(self.pieces())
        body = self.read()
        return events([body]) if body.lstrip().startswith(_BEGINNINGS) else parsed(body, self._failures)

    def json(self) -> dict[str, Any]:
        """Return the whole body as a JSON object. Raises EngineUnavailable when it is something else."""
        return parsed(self.read(), self._failures)

    def finish(self) -> None:
        """Take what follows behind the last word, so that the connection can be used again, but do not wait for it."""
        self._deadline.silence_seconds = FINISH_SECONDS
        try:
            for _ in range(FINISH_PIECES):
                if not self._next():
                    return
        except EngineUnavailable:
            return  # the connection will be closed, and the answer is there

    def beginning(self) -> bytes:
        """Return the body of a failure, or as much of it as tells what happened; nothing when it cannot be had."""
        body, size = [], 0
        try:
            for piece in self.pieces():
                body.append(piece)
                size += len(piece)
                if size > MOST_ERROR_BYTES:
                    break
        except (EngineUnavailable, EngineRefused):
            return b""  # the status says enough
        return b"".join(body)

    def detail(self) -> str:
        """Return what the body of a failure says."""
        return said_by(self.beginning())

    def _next(self) -> bytes:
        try:
            self._deadline.left_seconds()
            piece: bytes = self._raw.read1(_PIECE_BYTES, decode_content=True)
        except _FAILURES as error:
            raise _translated(error, self._deadline, self._failures, sent=True) from None
        return piece


class EngineServer:
    """The server of one engine."""

    def __init__(self, name: str, base_url: str, http: EngineHttp, secrets: tuple[str, ...] = ()) -> None:
        self._base_url = base_url
        self._http = http
        self.failures = Failures(name, _place(base_url), secrets)

    @contextmanager
    def post(self, path: str, body: bytes, headers: Mapping[str, str], deadline: Deadline) -> Iterator[Reply]:
        """Send ``body`` and give the answer, of whatever status, to the block. Raises EngineUnavailable."""
        request = _request(self._base_url.rstrip("/") + path if path else self._base_url, body, headers)
        use_deadline(deadline)
        try:
            response = self._send(request, deadline)
            try:
                yield Reply(response.status_code, response.headers, response.raw, self.failures, deadline)
            finally:
                _give_back(response)
        finally:
            use_deadline(None)

    def _send(self, request: requests.PreparedRequest, deadline: Deadline) -> requests.Response:
        connect = min(CONNECT_SECONDS, deadline.total_seconds)
        timeout = (connect, deadline.total_seconds)
        proxies = get_environ_proxies(request.url or "")
        try:
            return self._http.adapter.send(request, stream=True, timeout=timeout, proxies=proxies)
        except _FAILURES as error:
            raise _translated(error, deadline, self.failures, sent=False) from None


def bearer(key: str) -> dict[str, str]:
    """Return the header that carries a key, or none."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def header_value(text: str) -> str:
    """Return an id as a header can carry it."""
    return text.encode("ascii", "backslashreplace").decode().replace("\r", "").replace("\n", "")


def json_body(value: Mapping[str, Any]) -> bytes:
    """Return JSON as engines get it; halves of characters are left out."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def parsed(body: bytes, failures: Failures) -> dict[str, Any]:
    """Return a body as a JSON object; bytes that are no UTF-8 become U+FFFD. Raises EngineUnavailable."""
    try:
        value = json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        kind = "a web page" if body.lstrip()[:1] == b"<" else "something" if body.strip() else "nothing"
        raise failures.unavailable(f"answered {kind} instead of JSON; check its address") from None
    if not isinstance(value, dict):
        raise failures.unavailable("answered JSON that is no object; check its address")
    return value


def said_by(body: bytes) -> str:
    """Return what the body of a failure says, whatever it is."""
    text = body.decode("utf-8", "replace").strip()
    if text.startswith("<"):
        return "(a web page)"
    try:
        return error_text(json.loads(text)) if text else ""
    except (ValueError, RecursionError):
        return text


def _request(url: str, body: bytes, headers: Mapping[str, str]) -> requests.PreparedRequest:
    request = requests.PreparedRequest()
    request.method, request.url, request.body = "POST", url, body
    fixed = {"Content-Type": "application/json", "Accept-Encoding": "identity", "User-Agent": "wechat-bridge"}
    request.headers = requests.structures.CaseInsensitiveDict({**fixed, **headers, "Content-Length": str(len(body))})
    return request


def _give_back(response: requests.Response) -> None:
    """Return the connection to the pool, or close it where something of the answer is still unread."""
    if not response.raw.closed:
        response.raw.close()
    response.raw.release_conn()


def _place(url: str) -> str:
    """Return scheme and host; the path and query of a webhook may be secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _translated(error: BaseException, deadline: Deadline, failures: Failures, *, sent: bool) -> EngineUnavailable:
    if deadline.is_over:
        return failures.unavailable(f"no complete answer within {deadline.total_seconds:g} s")
    if isinstance(error, requests.ConnectTimeout):
        return failures.unavailable("no connection in time; check its address and the network")
    if isinstance(error, (requests.ReadTimeout, TimeoutError)) or "ReadTimeout" in type(error).__name__:
        return failures.unavailable(f"silent for {deadline.silence_seconds:g} s")
    where = "broke off before the answer was complete" if sent else "could not be reached, or broke off"
    return failures.unavailable(f"{where} ({_reason(error)})")


def _reason(error: BaseException) -> str:
    """Say what lies at the root of an error, in the system's words or by the error's name; other texts may leak."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    text = error.strerror if isinstance(error, OSError) else None
    return text or type(error).__name__
