"""Let in whoever may talk; refuse the others before anything is fetched, shown or asked.

What is refused ends as an inbox row that says why. A person is told once a window at most, and a stranger only with a
pairing code: what they write before it is approved stays unanswered, as by then it may be long out of date.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from datetime import datetime

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.people.notice import say
from wechat_bridge.model import access, keys
from wechat_bridge.model.access import Reason, Told, Usage, Waiting
from wechat_bridge.model.command import command_of
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.model.message import InboxRow, in_order, said_at
from wechat_bridge.observe import metrics
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.access import Gate

log = logger(__name__)

HISTORY = "history"
"""The source of messages that were not received but looked up."""

CODE_TEXT = (
    "您好，我还不能回复您。请把配对码 {code} 发给机器人的主人，一小时内有效；批准之后请再发一次消息。\n"
    "I cannot answer you yet. Give the pairing code {code} to the owner of this bot within an hour; "
    "once it is approved, please write again."
)
RATE_TEXT = (
    "消息太快了，刚才有消息没有处理，请稍等 {wait} 再发。\n"
    "That was too fast: some messages were not read. Please wait {wait_en} and write again."
)
QUOTA_TEXT = "今天的消息数已用完，请 {wait} 后再来。\nThat was all for today: you can write again in {wait_en}."


def admitted(bridge: Bridge, conversation: Conversation, rows: list[InboxRow], gate: Gate | None) -> list[InboxRow]:
    """Return those of the waiting rows that may be answered; refuse the others. Raises LedgerUnavailable.

    ``gate`` is what their channel allows; None lets everybody in. While somebody else decides about the same rows, they
    just wait. A process that dies in between may let messages in that were over a limit; nobody is let in who is not
    allowed to talk.
    """
    if gate is None:
        return rows
    now = bridge.clock.now()
    is_owner = gate.owner_user_id == conversation.user_id
    waiting = [Waiting(row.id, command_of(row.items) is not None) for row in in_order(rows)]
    rules = bridge.settings.access.applied_to(gate.rules)
    refused = access.refused(rules, is_owner, conversation.access, conversation.usage, waiting, now)
    if refused:
        historic = {row.id for row in rows if _is_historic(row)}
        _refuse(bridge, conversation, refused, historic, now)
    return [row for row in rows if row.id not in refused]


@dataclass(frozen=True)
class Telling:
    """What a person is told of a reason, because of which row; ``code`` is the pairing code in it, if any."""

    told: Told
    text: str
    code: str = ""


def _refuse(
    bridge: Bridge, conversation: Conversation, refused: Mapping[str, Reason], historic: Set[str], now: datetime
) -> None:
    newest = {reason: row_id for row_id, reason in refused.items() if row_id not in historic}
    tellings = {reason: _telling(bridge, conversation, reason, newest[reason], refused, now) for reason in newest}
    said = {reason: each for reason, each in tellings.items() if each is not None}
    told = {reason.name: each.told for reason, each in said.items()}
    code = next((each.code for each in said.values() if each.code), "")
    if not bridge.access.settle(conversation, len(refused), told, code, now):
        return
    for reason, each in said.items():
        turn_id = keys.access_id(conversation.share_id, f"{reason.name.lower()}:{each.told.row_id}")
        say(bridge, turn_id, conversation, each.text)
    for reason in dict.fromkeys(refused.values()):
        count = bridge.inbox.skip([row_id for row_id, why in refused.items() if why is reason], reason.value)
        metrics.messages_refused_total.labels(conversation.share_id, reason.name.lower()).inc(count)
        log.info("messages_refused", chat_id=conversation.id, reason=reason.value, messages=count)


def _telling(
    bridge: Bridge,
    conversation: Conversation,
    reason: Reason,
    row_id: str,
    refused: Mapping[str, Reason],
    now: datetime,
) -> Telling | None:
    known = conversation.access.told.get(reason.name)
    since = access.told_since(reason, conversation.usage, now)
    if known is not None and known.row_id in refused:
        told = known  # a process that died had decided so, perhaps without saying it: the same again changes nothing
    elif since is None or (known is not None and known.at >= since):
        return None
    else:
        told = Told(at=now, row_id=row_id)
    if reason is not Reason.NOT_PAIRED:
        return Telling(told, _limit_text(reason, conversation.usage, now))
    code = _code(bridge, conversation, now)
    return Telling(told, CODE_TEXT.format(code=code), code) if code else None


def _is_historic(row: InboxRow) -> bool:
    """Whether it was old news when it came: looked up in a history, or said so long before that a code would be over.

    How long it has been waiting since is our affair and costs nobody their code.
    """
    return row.source == HISTORY or said_at(row) < row.received_at - access.CODE_LIFETIME


def _code(bridge: Bridge, conversation: Conversation, now: datetime) -> str:
    """Return the code that waits for an operator, or a new one; "" when too many of the channel wait."""
    if conversation.access.has_code(now):
        return conversation.access.code
    if len(bridge.access.waiting_codes(conversation.share_id, now)) >= access.MOST_CODES:
        return ""
    bridge.access.note_code(conversation.share_id, now + access.CODE_LIFETIME)
    return access.new_code()


def _limit_text(reason: Reason, usage: Usage, now: datetime) -> str:
    if reason is Reason.RATE:
        seconds = max(1, round(((usage.minute_from or now) + access.MINUTE - now).total_seconds()))
        return RATE_TEXT.format(wait=f"{seconds} 秒", wait_en=f"{seconds} s")
    hours = max(1, round(((usage.day_from or now) + access.DAY - now).total_seconds() / 3600))
    return QUOTA_TEXT.format(wait=f"{hours} 小时", wait_en=f"{hours} h")
