"""What the flow asks of whoever turns speech into text, where an installed package brings such a thing."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Protocol

GROUP = "wechat_bridge.speech_to_text"


class SpeechToText(Protocol):
    """Something that understands speech."""

    def text_of(self, data: bytes, mime: str, deadline_seconds: float) -> str:
        """Return what is said, or "" when nothing can be understood.

        ``data`` is as WeChat sends it: SILK at 24,000 Hz, in Tencent's flavour (one byte 0x02 before ``#!SILK_V3``, no
        FF FF at the end), whatever the message says about it. Raises EngineUnavailable and EngineRefused; the turn then
        goes on with a notice in place of the words.
        """
        ...


def load_speech_to_text() -> SpeechToText | None:
    """Return what an installed package names in the entry point group ``wechat_bridge.speech_to_text``, or None.

    The entry point names a callable without arguments. Of several the first by name is taken.
    """
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    found: SpeechToText | None = points[0].load()() if points else None
    return found
