"""Fetch what the messages of a turn bring besides text, before its engine is asked.

What is stored already, by an earlier attempt, is not fetched again. What cannot be had leaves a reason in its place and
costs no text.
"""

from __future__ import annotations

import time
from functools import cached_property, partial

from wechat_bridge.channels.base import MediaDoor
from wechat_bridge.engines.base import Attachment, ReadsLinks
from wechat_bridge.errors import (
    DocumentInvalid,
    EngineRefused,
    EngineUnavailable,
    MediaUnreadable,
    NotConfigured,
    PlatformUnavailable,
)
from wechat_bridge.flow.channel.accounts import opened
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model import keys
from wechat_bridge.model.channel import Account, Channel
from wechat_bridge.model.media import Media, MediaState, Problem, inbound_id
from wechat_bridge.model.message import InboxRow, Item, ItemKind
from wechat_bridge.model.turn import Turn
from wechat_bridge.observe.logging import logger

log = logger(__name__)

FETCHED = frozenset({ItemKind.IMAGE, ItemKind.VOICE, ItemKind.VIDEO, ItemKind.FILE})
MOST = 50
"""So much is fetched for one turn; one message may name thousands."""

TRIES = 3
PAUSE_SECONDS = 0.3


def with_media(
    bridge: Bridge, turn: Turn, rows: list[InboxRow], channel: Channel | None
) -> tuple[list[InboxRow], tuple[Attachment, ...]]:
    """Return the rows with what became of their media, and the media that can be read.

    ``channel`` is the turn's as its worker has read it; one that could not be read is read again if it is needed.
    Takes at most ``media.fetch_seconds`` in all. Raises LedgerUnavailable, and PlatformUnavailable when this process
    stops while it fetches.
    """
    fetching = Fetching(bridge, turn, channel)
    fetched = [fetching.row(row) for row in rows]
    return fetched, tuple(fetching.found)


class Fetching:
    """The fetching of one turn."""

    def __init__(self, bridge: Bridge, turn: Turn, channel: Channel | None) -> None:
        self.found: list[Attachment] = []
        self._bridge = bridge
        self._turn = turn
        self._known_channel = channel
        self._deadline = time.monotonic() + bridge.settings.media.fetch_seconds
        self._seen = 0

    def row(self, row: InboxRow) -> InboxRow:
        """Return a row in which each part says what became of it."""
        items = tuple(self._item(row, position, item) for position, item in enumerate(row.items))
        return row.model_copy(update={"items": items})

    def _item(self, row: InboxRow, position: int, item: Item) -> Item:
        if item.kind not in FETCHED or item.text:
            return item  # a voice with WeChat's transcript is as good as text
        self._seen += 1
        if self._seen > MOST:
            return item.model_copy(update={"problem": str(Problem.TOO_MANY)})
        media = self._known(row, position) or self._new(row, position, item)
        if media.state is not MediaState.STORED:
            return item.model_copy(update={"problem": media.problem})
        attachment = self._attachment(media)
        self.found.append(attachment)
        spoken = self._spoken(media)
        is_out_of_reach = not (attachment.link or spoken) and self._needs_link(attachment)
        if is_out_of_reach:
            log.warning("media_without_link", media_id=media.id, kind=media.kind.value,
                        reason=f"set {self._bridge.media_links.missing}", trace_id=row.trace_id)  # fmt: skip
        return item.model_copy(update={"text": spoken, "problem": str(Problem.NO_LINK) if is_out_of_reach else ""})

    def _attachment(self, media: Media) -> Attachment:
        bridge = self._bridge
        link = bridge.media_links.link_to(media, bridge.clock.now())
        return Attachment(media.kind, media.mime, media.size, media.label, partial(bridge.media.read, media), link)

    def _needs_link(self, attachment: Attachment) -> bool:
        engine = self._bridge.engines.get(self._channel.engine) if self._channel else None
        return isinstance(engine, ReadsLinks) and engine.needs_link(attachment)

    def _known(self, row: InboxRow, position: int) -> Media | None:
        """Return what an earlier attempt of this turn came to; a replay tries anew what could not be had."""
        media = self._bridge.media.get(inbound_id(row.id, position))
        if media is None or media.state is MediaState.RECEIVING:
            return None
        is_first = self._turn.generate_attempts <= 1
        return None if is_first and media.state is MediaState.FAILED else media

    def _new(self, row: InboxRow, position: int, item: Item) -> Media:
        media = Media(
            id=inbound_id(row.id, position),
            turn_id=self._turn.id,
            row_id=row.id,
            file_id=keys.new_file_name(),
            kind=item.kind,
            label=item.label,
            at=self._bridge.clock.now(),
        )
        try:
            stored = self._fetched(media, row.raw, position)
        except MediaUnreadable as error:
            failed = media.model_copy(update={"state": MediaState.FAILED, "problem": str(error.problem)})
            self._bridge.media.note(failed)
            log.warning("media_unreadable", media_id=media.id, kind=media.kind.value, reason=str(error),
                        trace_id=row.trace_id)  # fmt: skip
            return failed
        log.info("media_stored", media_id=media.id, kind=media.kind.value, mime=stored.mime, size=stored.size,
                 trace_id=row.trace_id)  # fmt: skip
        return stored

    def _fetched(self, media: Media, raw: str, position: int) -> Media:
        """Fetch and store one piece, in a few tries. Raises MediaUnreadable."""
        if self._door is None:
            raise MediaUnreadable(Problem.UNSUPPORTED)
        said = ""
        for _ in range(TRIES):
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise MediaUnreadable(Problem.TOO_SLOW, said)
            try:
                return self._try(self._door, media, raw, position, left)
            except PlatformUnavailable as error:
                if self._bridge.stopping.is_set():
                    raise  # it says nothing about the picture
                said = str(error)
            self._bridge.stopping.wait(PAUSE_SECONDS)
        raise MediaUnreadable(Problem.NOT_AVAILABLE, said)

    def _try(self, door: MediaDoor, media: Media, raw: str, position: int, seconds: float) -> Media:
        receiving = self._bridge.media.receive(media.model_copy(update={"file_id": keys.new_file_name()}))
        try:
            door.fetch(self._account, raw, position, receiving.write, seconds)
        except (MediaUnreadable, PlatformUnavailable):
            receiving.discard()
            raise
        return receiving.complete()

    @cached_property
    def _door(self) -> MediaDoor | None:
        return self._bridge.media_doors.get(self._channel.kind) if self._channel else None

    @cached_property
    def _account(self) -> Account:
        """Raises MediaUnreadable when there is none, or none that can be opened."""
        if self._channel is None:
            raise MediaUnreadable(Problem.UNSUPPORTED)
        try:
            return opened(self._bridge, self._channel)
        except (NotConfigured, DocumentInvalid) as error:
            raise MediaUnreadable(Problem.NOT_AVAILABLE, str(error)) from None

    @cached_property
    def _channel(self) -> Channel | None:
        return self._known_channel or self._bridge.channels.get(self._turn.share_id)

    def _spoken(self, media: Media) -> str:
        """Return what is said in a voice, where something installed can tell; it is asked once."""
        hook = self._bridge.speech_to_text
        if hook is None or media.kind is not ItemKind.VOICE:
            return ""
        if media.text is not None:
            return media.text
        data = self._bridge.media.read(media)
        try:
            text = hook.text_of(data, media.mime, max(1.0, self._deadline - time.monotonic()))
        except (EngineUnavailable, EngineRefused) as error:
            log.warning("speech_not_understood", media_id=media.id, error=str(error))
            return ""
        self._bridge.media.note(media.model_copy(update={"text": text}))
        return text
