"""Know repeats before the ledger is asked: claims in Redis, in one round trip for a batch of up to 500.

Redis only answers faster. What holds is the unique key in the ledger, so an event whose claim is uncertain goes on to
it, and a claim that could not be finished ends by itself.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Literal, TypeVar

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.gateway.degrade import Guard
from wechat_bridge.observe import metrics
from wechat_bridge.store.event_claims import Claimed, EventClaims, Stored
from wechat_bridge.store.event_claims import ClaimState as Known

CLAIM_SECONDS = 30.0
"""Longer than storing an event takes; a sender whose event was not stored is not held up for longer."""

MOST_AT_ONCE = 500
"""Events of one call. A larger batch is several, for the time that is allowed is meant for an answer, not for reading
thousands."""

E = TypeVar("E")


class ClaimState(StrEnum):
    """What is known of an event before the ledger is asked."""

    NEW = "new"  # nobody had it, or its type has no repeats: store it
    DUPLICATE = "duplicate"  # it was stored as the event known_as
    UNCERTAIN = "uncertain"  # somebody stores it just now, or died doing so: the ledger decides
    UNGUARDED = "unguarded"  # Redis is away and its type lets it pass: the ledger decides
    UNAVAILABLE = "unavailable"  # Redis is away and its type wants to be sent again later


STATES = {
    Known.NEW: ClaimState.NEW,
    Known.IN_FLIGHT: ClaimState.UNCERTAIN,
    Known.DONE: ClaimState.DUPLICATE,
}


@dataclass(frozen=True)
class Wanted:
    """An event that may be a repeat: its key, "" where its type has none, and what becomes of it without Redis."""

    key: str
    degrade: Literal["open", "closed"] = "open"


@dataclass(frozen=True)
class Claim:
    """What is known of a wanted event. ``known_as`` is the event of which it is a duplicate."""

    key: str
    state: ClaimState
    token: str = ""
    known_as: str = ""

    @property
    def is_duplicate(self) -> bool:
        """Whether it was stored before; nothing need be asked or stored."""
        return self.state is ClaimState.DUPLICATE

    @property
    def is_refused(self) -> bool:
        """Whether its sender has to send it again later."""
        return self.state is ClaimState.UNAVAILABLE


class Dedupe:
    """Redis in front of the ledger. No method raises because Redis fails, or takes longer than the rule allows."""

    def __init__(self, claims: EventClaims, guard: Guard) -> None:
        self._claims = claims
        self._guard = guard

    def close(self) -> None:
        """Close the connections."""
        self._claims.close()

    def begin(self, wanted: Sequence[Wanted]) -> list[Claim]:
        """Claim events; return what is known of each, in order. One that comes twice here is uncertain then."""
        token = secrets.token_hex(12)
        keys = [each.key for each in wanted if each.key]
        known: list[Claimed] = []
        try:
            for part in _parts(keys):
                known += self._claim(part, token)
        except BrokerUnavailable as error:
            return self._without_redis(wanted, known, token, error)
        return _claims(wanted, known, token)

    def commit(self, stored: Sequence[tuple[Claim, str, int]]) -> None:
        """Let repeats of events be known that are in the ledger: each claim with the id of its event and for how many
        ms from now. Also for those of which the ledger had to decide; what another one has claimed stays as it is.
        """
        known = [
            Stored(claim.key, claim.token, event_id, lifetime_ms)
            for claim, event_id, lifetime_ms in stored
            if claim.key and claim.state in {ClaimState.NEW, ClaimState.UNCERTAIN}
        ]
        self._finish(known, self._claims.commit)

    def release(self, claims: Sequence[Claim]) -> None:
        """These events were not stored: the same may come again at once."""
        held = [(claim.key, claim.token) for claim in claims if claim.key and claim.state is ClaimState.NEW]
        self._finish(held, self._claims.release)

    def forget(self, key: str, event_id: str) -> bool:
        """Let the same event come again, whose key is free in the ledger; False when Redis could not be told."""
        return self._try(lambda: self._claims.withdraw(key, event_id, self._guard.timeout_seconds), 1)

    def _claim(self, keys: Sequence[str], token: str) -> list[Claimed]:
        within = self._guard.timeout_seconds
        return self._guard.call(lambda: self._claims.claim(keys, token, CLAIM_SECONDS, within))

    def _finish(self, what: Sequence[E], act: Callable[[Sequence[E], float], object]) -> None:
        """Do it in parts; after one that failed the others are not tried."""
        parts = list(_parts(what))
        for number, part in enumerate(parts):
            left = sum(map(len, parts[number:]))
            if not self._try(partial(act, part, self._guard.timeout_seconds), left):
                return

    def _try(self, act: Callable[[], object], count: int) -> bool:
        """Do what may fail: a claim ends by itself, and the ledger knows better."""
        try:
            self._guard.call(act)
        except BrokerUnavailable:
            metrics.gateway_claims_left_total.inc(count)
            return False
        return True

    def _without_redis(
        self, wanted: Sequence[Wanted], known: Sequence[Claimed], token: str, error: BrokerUnavailable
    ) -> list[Claim]:
        """What is known of the first ones stays so; the rest follow what their types say."""
        claims = _claims(wanted, known, token)
        passed = sum(claim.state is ClaimState.UNGUARDED for claim in claims)
        self._guard.unguarded(passed, sum(claim.is_refused for claim in claims), error)
        return claims


def _claims(wanted: Sequence[Wanted], known: Sequence[Claimed], token: str) -> list[Claim]:
    """Pair events with answers, which may end early; one without a key needs none."""
    answers = iter(known)
    return [_claim(each, token, next(answers, None)) if each.key else Claim("", ClaimState.NEW) for each in wanted]


def _claim(wanted: Wanted, token: str, known: Claimed | None) -> Claim:
    if known is not None:
        return Claim(wanted.key, STATES[known.state], token, known.event_id)
    return Claim(wanted.key, ClaimState.UNGUARDED if wanted.degrade == "open" else ClaimState.UNAVAILABLE)


def _parts(what: Sequence[E]) -> Iterator[Sequence[E]]:
    for first in range(0, len(what), MOST_AT_ONCE):
        yield what[first : first + MOST_AT_ONCE]
