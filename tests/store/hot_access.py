"""What is asked about who may talk, for everybody and for those who may not."""

from __future__ import annotations

from tests.store.big_ledger import BigLedger
from tests.store.hot_queries import WINDOW, Call, Case, arrival_of
from wechat_bridge.model import keys
from wechat_bridge.model.access import Told

SHARE_ID = "channel"


def _gate(big: BigLedger, name: str) -> Call:
    return lambda: big.access.gate(SHARE_ID)


def _settle(big: BigLedger, name: str) -> Call:
    big.conversations.arm(arrival_of(big, name), WINDOW, big.now)
    seen = big.conversations.get(keys.chat_id(SHARE_ID, name))
    assert seen is not None
    told = {"NOT_PAIRED": Told(at=big.now, row_id=name)}
    return lambda: big.access.settle(seen, 1, told, "ABCDEFGH", big.now)


def _codes(big: BigLedger, name: str) -> Call:
    return lambda: big.access.waiting_codes(SHARE_ID, big.now)


def _note_code(big: BigLedger, name: str) -> Call:
    return lambda: big.access.note_code("channel-1", big.now)


HOT: dict[str, Case] = {
    "access.gate": _gate,
    "access.settle": _settle,
    "access.waiting_codes": _codes,
    "access.note_code": _note_code,
}

RARE = {
    "access.set_rules", "access.decide", "access.approve", "access.keep_human", "access.decided",  # an operator's
    "access.rows_of", "access.answers_of",  # a human who answers by hand
}  # fmt: skip
