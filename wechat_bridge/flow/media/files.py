"""The files of an answer: kept before the first send, uploaded just before each is sent."""

from __future__ import annotations

from collections.abc import Sequence

from wechat_bridge.channels.base import MediaDoor, OutboundFile, Uploaded
from wechat_bridge.engines.base import AnswerFile
from wechat_bridge.errors import MediaRefused, MediaUnreadable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.parts import platform_for
from wechat_bridge.model import keys
from wechat_bridge.model.channel import Account
from wechat_bridge.model.media import UNKNOWN_MIME, Media, Problem, label_of, outbound_id
from wechat_bridge.model.message import ItemKind
from wechat_bridge.model.turn import Chunk, Turn

TOO_LARGE = "（文件{label}过大，未能发送。）"
_LONGEST_MIME = 100


def keep_files(bridge: Bridge, turn: Turn, files: Sequence[AnswerFile]) -> tuple[list[str], list[str]]:
    """Store the files of an answer; return their ids, and a sentence for each that is too large to be sent.

    Raises LedgerUnavailable; done again, it stores nothing twice.
    """
    media_ids, sentences = [], []
    shown = platform_for(bridge, turn).shown if files else frozenset[ItemKind]()
    for number, file in enumerate(files):
        label = label_of(file.label)
        if len(file.data) > bridge.settings.media.most_bytes:
            sentences.append(TOO_LARGE.format(label=f" {label} " if label else ""))
            continue
        media = Media(
            id=outbound_id(turn.id, turn.fence, number),
            turn_id=turn.id,
            file_id=keys.new_file_name(),
            kind=file.kind if file.kind in shown else ItemKind.FILE,
            label=label,
            mime=file.mime[:_LONGEST_MIME] or UNKNOWN_MIME,
            at=bridge.clock.now(),
        )
        media_ids.append(bridge.media.put(media, file.data).id)
    return media_ids, sentences


def upload(bridge: Bridge, turn: Turn, door: MediaDoor | None, account: Account, chunk: Chunk) -> Uploaded:
    """Hand the file of a chunk to the platform; it may be done any number of times, nobody sees it yet.

    Raises MediaUnreadable, MediaRefused and what ``MediaDoor.upload`` raises.
    """
    if door is None:
        raise MediaRefused(f"channel {turn.share_id} takes text only")
    media = bridge.media.get(chunk.media_id or "")
    if media is None:
        raise MediaUnreadable(Problem.EXPIRED, f"{chunk.media_id} is not stored any more")
    file = OutboundFile(media.kind, media.label, media.mime, bridge.media.read(media))
    return door.upload(account, turn.user_id, file, bridge.settings.media.upload_seconds)
