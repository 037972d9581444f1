"""See to it that an answer of an engine may go out as it is, and carries the label of its channel.

Words are compared where the answer is stored. A webhook is asked where it is delivered: the answer is durable by then,
so a check that fails is tried again with the delivery, never lets anything out, and never has the engine asked again.
"""

from __future__ import annotations

from typing import Any

from wechat_bridge.engines.outgoing_webhook import Action, Draft
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.parts import parts_of, platform_for
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.characters import without_lone_surrogates
from wechat_bridge.model.outgoing import CheckRecord, CheckResult, OutgoingRules, Said, by_words, refused
from wechat_bridge.model.turn import Chunk, Turn, chunks_of
from wechat_bridge.observe.logging import logger

log = logger(__name__)

REFUSED = "refused by the outgoing check"
"""Why a turn was skipped: the channel says nothing in place of a refused answer."""


def cut(bridge: Bridge, turn: Turn, said: Said, media_ids: list[str]) -> list[Chunk]:
    """Cut a text so that the files behind it fit into the send budget, too."""
    texts = list[str]()
    if said.text.strip():
        texts = parts_of(bridge, platform_for(bridge, turn), said.text, said.label, files=len(media_ids))
    return chunks_of(turn.id, texts, media_ids)


def checked(bridge: Bridge, turn: Turn, channel: Channel) -> Said:
    """Check a stored answer against the rules its channel has now. Raises EngineUnavailable and NotConfigured."""
    rules, text = channel.outgoing, turn.answer or ""
    said = by_words(rules, text, platform_for(bridge, turn).read)
    if rules.check_url and not said.is_refused:
        said = _by_webhook(bridge, turn, rules, said)
    record = said.record
    log.info("answer_checked", turn_id=turn.id, result=record.result.value if record else "no check any more",
             by=record.by if record else "", trace_id=turn.trace_id)  # fmt: skip
    return said


def as_checked(bridge: Bridge, turn: Turn, said: Said) -> dict[str, Any]:
    """Return what is written of a turn when its answer has been checked: what was refused is forgotten."""
    media_ids = [] if said.is_refused else [chunk.media_id for chunk in turn.chunks if chunk.media_id]
    turn.chunks = cut(bridge, turn, said, media_ids)
    turn.answer, turn.check, turn.unchecked = said.text, said.record, False
    return {
        "answer": turn.answer,
        "check": turn.check.model_dump() if turn.check else None,
        "unchecked": False,
        "chunks": [chunk.model_dump() for chunk in turn.chunks],
    }


def _by_webhook(bridge: Bridge, turn: Turn, rules: OutgoingRules, said: Said) -> Said:
    text = platform_for(bridge, turn).written(said.text)
    secret = bridge.channels.vault.open_text(rules.sealed_check_secret)
    draft = Draft(turn.id, turn.share_id, turn.chat_id, turn.user_id, text)
    verdict = bridge.outgoing.check(rules.check_url, secret, draft)
    if verdict.action is Action.REFUSE:
        return refused(rules, "webhook")
    if verdict.action is Action.REPLACE:
        text = without_lone_surrogates(verdict.text)
        return Said(text=text, label=said.label, record=CheckRecord(result=CheckResult.REPLACED, by="webhook"))
    if said.record is not None and said.record.result is CheckResult.REPLACED:
        return said
    by = "words, webhook" if said.record else "webhook"
    return said.model_copy(update={"record": CheckRecord(result=CheckResult.PASSED, by=by)})
