"""Take a callback: open it, keep it where it is safe, and only then let it be answered.

The platform repeats what it gets no answer to, a few times within seconds, and then never again. So what is answered is
durable: in the ledger, or in Redis while the ledger is away. What neither can keep must not be answered at all.
"""

from __future__ import annotations

import time
from datetime import datetime
from enum import StrEnum
from functools import partial

from wechat_bridge.channels.wecom.callback import Signed, open_callback, open_echo
from wechat_bridge.channels.wecom.messages import Callback, read_callback
from wechat_bridge.channels.wecom.xml import Fields
from wechat_bridge.errors import CallbackForged, CallbackMalformed, CallbackRefused, LedgerUnavailable, TransientError
from wechat_bridge.flow import intake, spill
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.customer_service.bell import heard, ring
from wechat_bridge.flow.later import Later
from wechat_bridge.flow.people.welcome import welcome
from wechat_bridge.flow.seldom import Seldom
from wechat_bridge.flow.wecom.callback_channels import CallbackChannel, CallbackChannels
from wechat_bridge.flow.wecom.earlier import Earlier, Waiting
from wechat_bridge.model.channel import DISABLED, Channel, ChannelKind
from wechat_bridge.model.message import InboundMessage, InboxRow, InboxState
from wechat_bridge.observe import alerts, metrics
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.ledger import patience

log = logger(__name__)

SOURCE = "callback"
NO_CUSTOMER = "to the app, not to its customer service"

KEEP_SECONDS = 4.0
"""For how long after its arrival the ledger is tried; WeCom waits 5 s for an answer."""

QUICK_SECONDS = 0.25
"""For how long it is tried when it is known to be away. With less than this left it is not tried."""

RING_SECONDS = 2.0
"""For how long a doorbell of customer service is tried to be noted; unanswered, it is repeated."""

PAUSE_SECONDS = 0.2
NOTE_SECONDS = 30.0
REFUSAL_SECONDS = 60.0


class Outcome(StrEnum):
    """What became of a callback; counted, and all but the last three are answered with success."""

    STORED = "stored"  # a message that was new, or an event that asks something
    REPEATED = "repeated"  # it was there already
    EVENT = "event"  # an event that nobody answers, kept with its reason
    SPILLED = "spilled"  # kept in Redis until the ledger is back
    FORGED = "forged"  # wrong signature, time or receiver; many: look at Token and the machine's clock
    MALFORMED = "malformed"  # cannot be read; with a right signature: look at EncodingAESKey
    DROPPED = "dropped"  # not answered, so that the platform repeats it: neither ledger nor Redis could keep it


class Callbacks:
    """The callbacks of one process; its methods may be called from any thread, and block."""

    def __init__(self, bridge: Bridge, keep_seconds: float = KEEP_SECONDS) -> None:
        self._bridge = bridge
        self._keep_seconds = keep_seconds
        self._channels = CallbackChannels(bridge)
        self._earlier = Earlier(bridge)
        self._later = Later()
        self._notes = Seldom(NOTE_SECONDS)
        self._refusals = Seldom(REFUSAL_SECONDS)
        self._is_ledger_away = False

    def start(self) -> None:
        """Learn whose callbacks are taken. Raises LedgerUnavailable."""
        self._channels.load()
        self._earlier.start()
        self._later.start()

    def stop(self) -> None:
        """Do what was put off."""
        self._earlier.stop()
        self._later.stop()

    def check_url(self, share_id: str, query: Signed, echostr: str) -> bytes:
        """Return what WeCom's console wants to read when a callback URL is entered, and nothing around it.

        A disabled channel answers, too. Raises CallbackForged, also for a name that is no channel, CallbackMalformed,
        and LedgerUnavailable when that cannot be told.
        """
        return open_echo(self._known(share_id).account, query, echostr)

    def take(self, share_id: str, query: Signed, body: bytes, arrived: float) -> Outcome:
        """Keep a callback that arrived at a moment of the monotonic clock; return what became of it.

        Raises CallbackForged, CallbackMalformed, and TransientError when it is kept nowhere and must not be answered.
        """
        try:
            outcome = self._take(share_id, query, body, arrived)
        except CallbackRefused as error:
            count(Outcome.FORGED if isinstance(error, CallbackForged) else Outcome.MALFORMED)
            raise
        except TransientError as error:
            count(Outcome.DROPPED)
            log.warning("callback_not_kept", share_id=share_id, error=str(error))
            raise
        count(outcome)
        return outcome

    def _take(self, share_id: str, query: Signed, body: bytes, arrived: float) -> Outcome:
        known = self._known(share_id)
        now = self._bridge.clock.now()
        try:
            fields = open_callback(known.account, query, body, now, known.settings.freshness_seconds)
        except (CallbackForged, CallbackMalformed) as error:
            if self._refusals.may(share_id):  # anybody can make us say it
                log.warning("callback_refused", share_id=share_id, reason=str(error))
            raise
        if self._rings(known, fields):
            return Outcome.EVENT
        callback = read_callback(fields, known.settings, now)
        message = _judged(known.channel, callback.message)
        row = intake.rows_of(self._bridge, known.channel, [message], SOURCE)[0]
        outcome = self._kept(known, callback, row, arrived + self._keep_seconds)
        self._note(share_id, row.received_at, is_message=row.state is not InboxState.SKIPPED)
        return outcome

    def _rings(self, known: CallbackChannel, fields: Fields) -> bool:
        """Whether it is the doorbell of customer service, which is not kept but noted: WeCom keeps what was said."""
        with patience(QUICK_SECONDS if self._is_ledger_away else RING_SECONDS):
            share_id = heard(self._bridge, known.channel, known.settings, fields)
        if share_id is not None:
            self._later.do(partial(ring, self._bridge, share_id))
            self._note(share_id, self._bridge.clock.now(), is_message=False)
        return share_id is not None

    def _known(self, share_id: str) -> CallbackChannel:
        known = self._channels.get(share_id)
        if known is None:
            raise CallbackForged("there is no channel of this name that takes callbacks")
        return known

    def _kept(self, known: CallbackChannel, callback: Callback, row: InboxRow, until: float) -> Outcome:
        began = time.monotonic()
        try:
            outcome = self._stored(known, callback, row, until)
        except LedgerUnavailable as error:
            # Who had little time left because many came at once has learned nothing about the ledger.
            self._is_ledger_away |= time.monotonic() - began > self._keep_seconds / 2
            if not self._spilled(row):
                raise
            if self._is_ledger_away:
                alerts.raise_("ledger_unavailable", SOURCE, f"callbacks wait outside the ledger: {error}")
            return Outcome.SPILLED
        if self._is_ledger_away:
            self._is_ledger_away = False
            self._earlier.suspect_all()
            alerts.clear("ledger_unavailable", SOURCE)
        return outcome

    def _stored(self, known: CallbackChannel, callback: Callback, row: InboxRow, until: float) -> Outcome:
        """Store it, trying again until the time is up; once and shortly while the ledger is known to be away."""
        while (left := until - time.monotonic()) > QUICK_SECONDS:
            # Before the ledger's time begins: a Redis that hangs takes nothing of it.
            waiting = self._earlier.look(row.share_id, is_suspect=self._is_ledger_away)
            try:
                with patience(QUICK_SECONDS if self._is_ledger_away else left):
                    return self._store(known, callback, row, waiting)
            except LedgerUnavailable:
                if self._is_ledger_away:
                    raise
            if self._bridge.stopping.wait(PAUSE_SECONDS):
                raise LedgerUnavailable("MongoDB cannot be used, and this process ends")
        raise LedgerUnavailable("MongoDB did not store them in time")

    def _store(self, known: CallbackChannel, callback: Callback, row: InboxRow, waiting: Waiting | None) -> Outcome:
        if waiting and not self._earlier.store(row.share_id, waiting) and self._spilled(row):
            return Outcome.SPILLED
        new = intake.store_rows(self._bridge, [row], self._ring)
        if callback.welcome_text and known.channel.enabled:
            welcome(self._bridge, known.channel, row, callback.welcome_text)
        if not new:
            return Outcome.REPEATED
        return Outcome.EVENT if row.state is InboxState.SKIPPED else Outcome.STORED

    def _spilled(self, row: InboxRow) -> bool:
        if is_kept := spill.put(self._bridge, row.share_id, [row]):
            self._earlier.note(row.share_id)
        return is_kept

    def _ring(self, bridge: Bridge, chat_id: str, delay_seconds: float) -> None:
        """Ring after the answer: a Redis that hangs delays none."""
        self._later.do(partial(intake.ring_flush, bridge, chat_id, delay_seconds))

    def _note(self, share_id: str, now: datetime, *, is_message: bool) -> None:
        if self._notes.may((share_id, is_message)):
            self._later.do(partial(self._bridge.channels.note_callback, share_id, now, is_message=is_message))


def count(outcome: Outcome) -> None:
    """Count a callback."""
    metrics.callbacks_total.labels(outcome.value).inc()


def _judged(channel: Channel, message: InboundMessage) -> InboundMessage:
    """Keep what comes to a disabled channel, unanswered: to enable it must not answer what is long out of date."""
    if channel.enabled and (channel.kind is not ChannelKind.WECOM_KF or message.state is not InboxState.PENDING):
        return message
    reason = NO_CUSTOMER if channel.enabled else DISABLED
    return message.model_copy(update={"state": InboxState.SKIPPED, "reason": reason})
