"""HTTP to platforms from many threads: real total deadlines, bounded bodies, errors without secrets.

::

    HttpError            the exchange failed; says method, host and path, never a query or a header
    ├── NotSent          no connection, or the request could not be written: the platform has not seen it
    ├── ReadTimedOut     sent, and not a byte came back in time: for a long poll, an empty answer
    ├── AnswerBroken     the answer stopped half way, or is no HTTP: what the platform did is unknown
    ├── BodyTooLarge     the answer is larger than anything a platform sends
    ├── DeadlineExceeded the total time was used up, however lively the connection
    └── CallCut          ended by this process, because it stops
"""

from __future__ import annotations

import copy
import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.utils import get_environ_proxies
from urllib3.exceptions import HTTPError as Urllib3Error

from wechat_bridge.channels.inflight import Call, Cut, InFlight
from wechat_bridge.channels.transport import CuttableAdapter
from wechat_bridge.errors import PlatformUnavailable

MAX_BODY_BYTES = 16 * 1024 * 1024
_HOSTS_REMEMBERED = 64
_ORIGINS_REMEMBERED = 1_000
_PIECE_BYTES = 65536
_FAILURES = (requests.RequestException, Urllib3Error, HTTPException, OSError, ValueError)


class HttpError(PlatformUnavailable):
    """An HTTP exchange with a platform failed."""


class NotSent(HttpError):
    """The request did not reach the platform."""


class ReadTimedOut(HttpError):
    """The platform took the request and sent nothing back in time."""


class AnswerBroken(HttpError):
    """The connection ended, stalled or spoke nonsense before the answer was complete."""


class BodyTooLarge(HttpError):
    """The answer is larger than the limit."""


class DeadlineExceeded(HttpError):
    """The exchange took longer than its total time."""


class CallCut(HttpError):
    """This process ended the exchange because it stops."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A complete answer, whatever its status. ``headers`` are looked up in any case."""

    status: int
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Sink:
    """Where a body goes instead of into memory."""

    take: Callable[[bytes], object]
    most_bytes: int


class HttpClient:
    """One per process, shared by all its threads. Making it starts no thread and opens no socket.

    Built on the transport adapter of requests rather than its session: an API call wants no cookies, no redirects and
    no environment read anew each time. Proxies and certificates from the environment (``HTTPS_PROXY``, ``NO_PROXY``,
    ``REQUESTS_CA_BUNDLE``, ``CURL_CA_BUNDLE``) are honoured, read once.
    """

    def __init__(self, pool_maxsize: int, max_body_bytes: int = MAX_BODY_BYTES) -> None:
        _keep_addresses_out_of_logs()
        self._max_body_bytes = max_body_bytes
        self._in_flight = InFlight()
        self._adapter = CuttableAdapter(pool_connections=_HOSTS_REMEMBERED, pool_maxsize=pool_maxsize)
        self._proxies: dict[str, dict[str, str]] = {}
        self._proxy: dict[str, str] = {}

    def through(self, proxy: str) -> HttpClient:
        """Return a client that shares all with this one and goes through ``proxy``, whatever the environment says.

        ``proxy`` is an ``http://`` or ``https://`` address, with name and password where it wants them; "": as this
        client goes.
        """
        if not proxy:
            return self
        other = copy.copy(self)
        other._proxy = {"http": proxy, "https": proxy}
        return other

    def post_json(
        self,
        url: str,
        body: Mapping[str, Any],
        headers: Mapping[str, str],
        *,
        connect_seconds: float,
        read_seconds: float,
        total_seconds: float,
    ) -> HttpAnswer:
        """Send ``body`` as JSON and return the answer. Raises HttpError; see the module for its kinds."""
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        return self.post_bytes(
            url, data, headers, connect_seconds=connect_seconds, read_seconds=read_seconds, total_seconds=total_seconds
        )

    def post_bytes(
        self,
        url: str,
        data: bytes,
        headers: Mapping[str, str],
        *,
        connect_seconds: float,
        read_seconds: float,
        total_seconds: float,
    ) -> HttpAnswer:
        """Send ``data`` and return the answer. Raises HttpError; see the module for its kinds."""
        request = _request("POST", url, {**headers, "Content-Length": str(len(data))}, data)
        return self._exchange(request, (connect_seconds, read_seconds), total_seconds)

    def get(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        connect_seconds: float,
        read_seconds: float,
        total_seconds: float,
    ) -> HttpAnswer:
        """Ask for ``url`` and return the answer. Raises HttpError; see the module for its kinds."""
        return self._exchange(_request("GET", url, headers, None), (connect_seconds, read_seconds), total_seconds)

    def download(
        self, url: str, sink: Callable[[bytes], object], *, most_bytes: int, read_seconds: float, total_seconds: float
    ) -> HttpAnswer:
        """Ask for ``url`` and hand the body of a 200 to ``sink`` as it comes; the answer returned has none.

        Raises HttpError, and whatever ``sink`` raises. Until it returns, what the sink has got may not be all.
        """
        timeout = (min(read_seconds, total_seconds), read_seconds)
        return self._exchange(_request("GET", url, {}, None), timeout, total_seconds, _Sink(sink, most_bytes))

    def cut_all(self) -> None:
        """End all exchanges that run now; they raise CallCut. For the end of a stop's grace."""
        self._in_flight.cut_all()

    def close(self) -> None:
        """Close the idle connections and end the deadline thread."""
        self._in_flight.close()
        self._adapter.close()

    def _exchange(
        self,
        request: requests.PreparedRequest,
        timeout: tuple[float, float],
        total_seconds: float,
        sink: _Sink | None = None,
    ) -> HttpAnswer:
        call = Call(time.monotonic() + total_seconds)
        answer: HttpAnswer | None = None
        failure: HttpError | None = None
        self._in_flight.enter(call)
        try:
            answer = self._answer(request, timeout, sink)
        except HttpError as error:
            failure = error
        except _FAILURES as error:
            failure = _translated(error, call, _place(request))
        finally:
            self._in_flight.leave(call)
        if answer is not None and (call.cut is None or _is_framed(answer)):
            return answer
        # Raised outside the handlers: the errors of the libraries below carry addresses and headers in their text.
        raise _of_cut(call, failure, _place(request), total_seconds)

    def _answer(
        self, request: requests.PreparedRequest, timeout: tuple[float, float], sink: _Sink | None
    ) -> HttpAnswer:
        response = self._adapter.send(
            request, stream=True, timeout=timeout, proxies=self._proxies_of(request.url or "")
        )
        pieces: list[bytes] = []
        take: Callable[[bytes], object] = pieces.append
        most_bytes = self._max_body_bytes
        if sink is not None and response.status_code == requests.codes.ok:
            take, most_bytes = sink.take, sink.most_bytes
        _read(response, take, most_bytes, _place(request))
        return HttpAnswer(response.status_code, b"".join(pieces), response.headers)

    def _proxies_of(self, url: str) -> dict[str, str]:
        if self._proxy:
            return self._proxy
        origin = "/".join(url.split("/", 3)[:3])
        found = self._proxies.get(origin)
        if found is None:
            found = get_environ_proxies(url)
            if len(self._proxies) >= _ORIGINS_REMEMBERED:
                self._proxies = {}
            self._proxies[origin] = found
        return found


def _read(response: requests.Response, take: Callable[[bytes], object], most_bytes: int, place: str) -> None:
    """Read a body to its end; a connection with a rest in it is closed, or that would be somebody else's answer."""
    size, is_whole = 0, False
    try:
        for piece in response.raw.stream(_PIECE_BYTES, decode_content=True):
            size += len(piece)
            if size > most_bytes:
                raise BodyTooLarge(f"{place}: the answer is larger than {most_bytes} bytes")
            take(piece)
        is_whole = True
    finally:
        if not is_whole:
            response.raw.close()


def _keep_addresses_out_of_logs() -> None:
    """Silence the lines in which urllib3 prints whole addresses; the key of a login is in the query of one."""
    logging.getLogger("urllib3.connectionpool").setLevel(logging.INFO)
    logging.getLogger("urllib3.connection").setLevel(logging.ERROR)


def _request(method: str, url: str, headers: Mapping[str, str], data: bytes | None) -> requests.PreparedRequest:
    request = requests.PreparedRequest()
    request.method, request.url, request.body = method, url, data
    request.headers = dict(headers)  # type: ignore[assignment]  # half the size, held by every open poll
    return request


def _place(request: requests.PreparedRequest) -> str:
    """Name an exchange without what may be secret in its address: the query, and a user's name and password."""
    try:
        parts = urlsplit(request.url or "")
    except ValueError:
        return f"{request.method} (an address that cannot be read)"
    return f"{request.method} {parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _is_framed(answer: HttpAnswer) -> bool:
    """Whether the end of the body was announced, so that a body cut short could not pass as whole."""
    return "content-length" in answer.headers or "transfer-encoding" in answer.headers


def _of_cut(call: Call, failure: HttpError | None, place: str, total_seconds: float) -> HttpError:
    """Return the error of an exchange: being cut from outside explains whatever else went wrong."""
    if call.cut is Cut.DEADLINE:
        return DeadlineExceeded(f"{place}: no complete answer within {total_seconds:g} s")
    if call.cut is Cut.STOP:
        return CallCut(f"{place}: ended because this process stops")
    return failure or AnswerBroken(f"{place}: no answer")


def _translated(error: BaseException, call: Call, place: str) -> HttpError:
    reason = _reason(error)
    if not call.sent:
        return NotSent(f"{place}: the request could not be sent ({reason}); check the address and the network")
    if isinstance(error, requests.ReadTimeout):
        return ReadTimedOut(f"{place}: no answer in time")
    return AnswerBroken(f"{place}: the connection broke before the answer was complete ({reason})")


def _reason(error: BaseException) -> str:
    """Say what lies at the root of an error, in the system's words or by the error's name; other texts may leak."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    text = error.strerror if isinstance(error, OSError) else None
    return text or type(error).__name__
