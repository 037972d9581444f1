"""What is asked about media: while a turn fetches them, for whoever follows a link, and when they are old."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from tests.store.big_ledger import BigLedger, picture
from tests.store.hot_queries import Call, Case
from wechat_bridge.model.media import Media, MediaState


def _picture(act: Callable[[BigLedger, Media], object]) -> Case:
    """Time ``act`` on a stored picture."""

    def case(big: BigLedger, name: str) -> Call:
        kept = big.media.put(picture(big.now, name, state=MediaState.RECEIVING), b"picture" * 1_000)
        return lambda: act(big, kept)

    return case


def _old(big: BigLedger, name: str) -> Call:
    """A window of times in which there is nothing."""
    return lambda: big.media.old(big.now - timedelta(days=40), big.now - timedelta(days=32))


HOT: dict[str, Case] = {
    "media.get": lambda big, name: lambda: big.media.get("in:channel:live-1:0"),
    "media.receive": lambda big, name: lambda: big.media.receive(picture(big.now, name)),
    "media.put": lambda big, name: lambda: big.media.put(picture(big.now, name), b"picture" * 1_000),
    "media.settle": _picture(lambda big, kept: big.media.settle(kept)),
    "media.note": _picture(lambda big, kept: big.media.note(kept)),
    "media.read": _picture(lambda big, kept: big.media.read(kept)),
    "media.pieces": _picture(lambda big, kept: list(big.media.pieces(kept))),
    "media.old": _old,
    "media.remove": _picture(lambda big, kept: big.media.remove([kept.id])),
}
