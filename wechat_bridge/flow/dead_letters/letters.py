"""Keep a dead letter: in the ledger, in Redis while that is away, in this process while both are."""

from __future__ import annotations

from wechat_bridge.errors import BrokerUnavailable, LedgerUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.observe import alerts, metrics
from wechat_bridge.observe.logging import logger
from wechat_bridge.observe.secrets import masked_text

log = logger(__name__)

MOST_CHARACTERS = 16_384
"""Of each text of a dead letter; the message itself stands in the inbox."""

NOT_STORED = "dead_letter_not_stored"


def keep(bridge: Bridge, letter: DeadLetter) -> bool:
    """Keep a letter where it can be kept; False when that is only the memory of this process. Idempotent."""
    try:
        _store(bridge, letter)
        return True
    except LedgerUnavailable as error:
        is_safe = _spill(bridge, letter)
        place = "Redis" if is_safe else "the memory of this process"
        advice = f"{letter.id} waits in {place} until the ledger is back: look at MongoDB ({error})"
        alerts.raise_(NOT_STORED, letter.share_id or letter.stage, advice, is_critical=True)
        return is_safe


def drain(bridge: Bridge) -> None:
    """Store what Redis keeps. Raises LedgerUnavailable or BrokerUnavailable."""
    for letter in bridge.dead_spill.letters():
        _store(bridge, letter)
        bridge.dead_spill.drop(letter.id)
        alerts.clear(NOT_STORED, letter.share_id or letter.stage)


def fit_to_keep(text: str) -> str:
    """Return a text as a dead letter may hold it: without secrets, and not longer than ``MOST_CHARACTERS``."""
    text = masked_text(text)
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}… ({len(text)} characters in all)"


def _store(bridge: Bridge, letter: DeadLetter) -> None:
    if bridge.dead_letters.record(letter):
        metrics.dead_letters_total.labels(letter.stage).inc()
        alerts.raise_("dead_letter", letter.share_id or letter.stage, f"{letter.id} was given up: {letter.error}")


def _spill(bridge: Bridge, letter: DeadLetter) -> bool:
    try:
        bridge.dead_spill.put(letter)
    except BrokerUnavailable as error:
        log.warning("dead_letter_kept_in_process", letter_id=letter.id, error=str(error), trace_id=letter.trace_id)
        bridge.unfinished.add(f"dead letter {letter.id}", lambda: _store(bridge, letter))
        return False
    return True
