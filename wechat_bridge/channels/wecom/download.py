"""``media/get`` answers with a file, or with JSON that says why not, and both with HTTP 200."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from wechat_bridge.channels.http import HttpAnswer
from wechat_bridge.channels.wecom.answers import Answer, answer_of

_LONGEST_COMPLAINT_BYTES = 4_096


class Gate:
    """Stands before a sink and holds the beginning back until it is sure to be a file and no complaint.

    The headers, which tell, come with the end; but no complaint is long.
    """

    def __init__(self, sink: Callable[[bytes], object]) -> None:
        self._sink = sink
        self._held = b""
        self._is_open = False

    def take(self, piece: bytes) -> None:
        """Take the next piece of a body."""
        if self._is_open:
            self._sink(piece)
            return
        self._held += piece
        if len(self._held) > _LONGEST_COMPLAINT_BYTES:
            self._open()

    def close(self, answer: HttpAnswer, call: str, secrets: Iterable[str]) -> Answer:
        """Say what has come: a complaint, or a file that the sink has then got whole. Raises PlatformUnavailable."""
        if answer.status != 200:
            return answer_of(answer, call, secrets)
        is_named = "content-disposition" in answer.headers
        is_json = "json" in answer.headers.get("content-type", "").lower()
        if not self._is_open and is_json and not is_named:
            return answer_of(replace(answer, body=self._held), call, secrets)
        if not self._is_open:
            self._open()
        return Answer(0)

    def _open(self) -> None:
        self._is_open = True
        self._sink(self._held)
        self._held = b""
