"""Every query that runs while messages flow: what poll, intake, flush, reply, deliver, seed, sweep and health ask.

Each entry prepares a case of its own (not timed) and returns the call to time.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from tests.store.big_ledger import DEAD_OWNER, LIVING_OWNER, BigLedger, channel, letter, row, turn, worker
from wechat_bridge.model import keys
from wechat_bridge.model.message import InboxState
from wechat_bridge.model.turn import Chunk, Turn, TurnState
from wechat_bridge.store.conversations import Arrival
from wechat_bridge.store.windows import Window

Call = Callable[[], object]
Case = Callable[[BigLedger, str], Call]

WINDOW = Window(1.0, 5.0, 20)
LEASE = 60


def _link(big: BigLedger, name: str, act: Callable[[BigLedger, str], object], **fields: object) -> Call:
    big.channels.add(channel(big.now, name, next_poll_at=None, **fields))
    return lambda: act(big, name)


def arrival_of(big: BigLedger, name: str) -> Arrival:
    """Return the arrival of a message of a conversation of its own."""
    chat = keys.chat_id("channel", name)
    return Arrival(chat, "channel", name, 1, f"token-{name}", 1, big.now, big.now, 10)


def _waiting(big: BigLedger, name: str) -> str:
    """Make one message of a new conversation wait; return the chat id."""
    big.inbox.add([row(big.now, name)])
    big.conversations.arm(arrival_of(big, name), WINDOW, big.now)
    return keys.chat_id("channel", name)


def _chat(act: Callable[[BigLedger, str], object]) -> Case:
    """Time ``act`` on a conversation in which one message waits."""

    def case(big: BigLedger, name: str) -> Call:
        chat = _waiting(big, name)
        return lambda: act(big, chat)

    return case


def _opened(big: BigLedger, name: str, **fields: object) -> Turn:
    opened = turn(big.now, name, chunks=[Chunk(client_id="c", text="yes")], **fields)
    big.turns.open(opened)
    return opened


def _claimed(big: BigLedger, name: str) -> Turn:
    queued = _opened(big, name)
    claimed = big.turns.claim(
        queued.id, TurnState.QUEUED, TurnState.GENERATING, LIVING_OWNER, big.now, big.after(LEASE)
    )
    assert claimed is not None
    return claimed


def _turn(make: Callable[[BigLedger, str], Turn], act: Callable[[BigLedger, Turn], object]) -> Case:
    """Time ``act`` on a turn."""

    def case(big: BigLedger, name: str) -> Call:
        made = make(big, name)
        return lambda: act(big, made)

    return case


def _in_turn(act: Callable[[BigLedger, Turn], object]) -> Case:
    """Time ``act`` on a turn that owns one row."""

    def case(big: BigLedger, name: str) -> Call:
        big.inbox.add([row(big.now, name)])
        opened = _opened(big, name)
        big.inbox.claim(opened.message_ids, opened.id)
        return lambda: act(big, opened)

    return case


def _terminal(big: BigLedger, name: str) -> Turn:
    return _opened(big, name, state="sent", ring_at=big.now)


def _parked(big: BigLedger, name: str) -> Turn:
    return _opened(big, name, state="parked", ring_at=None, park_reason="other")


def _claim(big: BigLedger, queued: Turn) -> object:
    lease = big.after(LEASE)
    return big.turns.claim(queued.id, TurnState.QUEUED, TurnState.GENERATING, LIVING_OWNER, big.now, lease)


def _add_row(big: BigLedger, name: str) -> Call:
    new = row(big.now, name)
    return lambda: big.inbox.add([new])


def _add_repeat(big: BigLedger, name: str) -> Call:
    again = row(big.now, name)
    big.inbox.add([again])
    return lambda: big.inbox.add([again])


def _open_busy(big: BigLedger, name: str) -> Call:
    _opened(big, name)
    second = turn(big.now, name, id=f"second-{name}")
    return lambda: big.turns.open(second)


def _letter_again(big: BigLedger, name: str) -> Call:
    big.dead_letters.record(letter(big.now, name))
    return lambda: big.dead_letters.record(letter(big.now, name, last_failure_at=big.after(LEASE)))


def _of(query: Callable[[BigLedger], object]) -> Case:
    """Time a query that needs no case of its own."""
    return lambda big, _: lambda: query(big)


def _live_chats() -> list[str]:
    return [keys.chat_id("channel", f"live-{number}") for number in range(20)]


def _old(big: BigLedger) -> tuple[datetime, datetime]:
    """A window of times in which there is nothing."""
    return big.now - timedelta(days=40), big.now - timedelta(days=32)


def _stuck_since(big: BigLedger) -> tuple[datetime, datetime]:
    return datetime(2000, 1, 1, tzinfo=big.now.tzinfo), big.now - timedelta(seconds=15)


SEED: dict[str, Case] = {
    "channels.due_links": _of(lambda big: big.channels.due_links(big.now, 2_000)),
    "channels.lost_links": _of(lambda big: big.channels.lost_links(big.now, [], 2_000)),
    "channels.lost_links, dead owner": _of(lambda big: big.channels.lost_links(big.now, [DEAD_OWNER], 2_000)),
    "channels.free_links": lambda big, name: _link(
        big,
        name,
        lambda big, name: big.channels.free_links([{"_id": name, "poll_owner": DEAD_OWNER}], big.now),
        poll_owner=DEAD_OWNER,
    ),
    "workers.all": _of(lambda big: big.workers.all()),
}
POLL: dict[str, Case] = {
    "channels.get": _of(lambda big: big.channels.get("channel-1")),
    "channels.take_link": lambda big, name: _link(
        big, name, lambda big, name: big.channels.take_link(name, 0, LIVING_OWNER, big.now, big.after(LEASE))
    ),
    "channels.finish_link": lambda big, name: _link(
        big, name, lambda big, name: big.channels.finish_link(name, 0, big.after(LEASE))
    ),
    "channels.record_poll": lambda big, name: _link(
        big, name, lambda big, name: big.channels.record_poll(channel(big.now, name), {"last_poll_at": big.now})
    ),
    "channels.require_login": lambda big, name: _link(
        big, name, lambda big, name: big.channels.require_login(name, 1, "-14")
    ),
    "channels.block_sends": lambda big, name: _link(
        big, name, lambda big, name: big.channels.block_sends(name, 1, big.after(LEASE))
    ),
    "channels.note_callback": lambda big, name: _link(
        big, name, lambda big, name: big.channels.note_callback(name, big.now, is_message=True)
    ),
    "channels.note_message": lambda big, name: _link(
        big, name, lambda big, name: big.channels.note_message(name, big.now)
    ),
    "channels.end_chain": lambda big, name: _link(
        big, name, lambda big, name: big.channels.end_chain(channel(big.now, name))
    ),
    "workers.seen": _of(lambda big: big.workers.seen(LIVING_OWNER)),
    "workers.announce": lambda big, name: lambda: big.workers.announce(worker(LIVING_OWNER, big.now)),
}
INTAKE: dict[str, Case] = {
    "inbox.add": _add_row,
    "inbox.add, repeat": _add_repeat,
    "inbox.pending_chats": _of(lambda big: big.inbox.pending_chats(["channel:live-1", "channel:done-50"])),
    "conversations.arm, idle": lambda big, name: lambda: big.conversations.arm(arrival_of(big, name), WINDOW, big.now),
    "conversations.arm, waiting": lambda big, name: _chat(
        lambda big, _: big.conversations.arm(arrival_of(big, name), WINDOW, big.now)
    )(big, name),
    "conversations.ensure_due": lambda big, name: lambda: big.conversations.ensure_due(arrival_of(big, name), big.now),
}
FLUSH: dict[str, Case] = {
    "conversations.get": _chat(lambda big, chat: big.conversations.get(chat)),
    "inbox.pending": _chat(lambda big, chat: big.inbox.pending(chat)),
    "turns.open": lambda big, name: lambda: _opened(big, name),
    "turns.open, busy": _open_busy,
    "turns.parked_of": _turn(_opened, lambda big, opened: big.turns.parked_of(opened.chat_id)),
    "turns.rounds": _turn(_opened, lambda big, opened: big.turns.rounds(opened.chat_id, big.now, 50)),
    "turns.chunk_sent_as": _turn(_opened, lambda big, opened: big.turns.chunk_sent_as(opened.chat_id, "unknown")),
    "turns.open_of": _turn(_opened, lambda big, opened: big.turns.open_of(opened.chat_id)),
    "conversations.clear_due": _chat(lambda big, chat: big.conversations.clear_due(chat, 1)),
    "conversations.block": _chat(lambda big, chat: big.conversations.block(chat, big.after(LEASE))),
    "conversations.unblock": _chat(lambda big, chat: big.conversations.unblock(chat, big.now)),
}
REPLY: dict[str, Case] = {
    "turns.claim": _turn(_opened, _claim),
    "inbox.claim": lambda big, name: _chat(lambda big, _: big.inbox.claim([keys.inbox_id("channel", name)], name))(
        big, name
    ),
    "inbox.get": _of(lambda big: big.inbox.get("channel:done-50")),
    "turns.get": _turn(_opened, lambda big, opened: big.turns.get(opened.id)),
    "turns.release": _turn(
        _claimed, lambda big, claimed: big.turns.release(claimed, TurnState.GENERATED, big.now, big.now)
    ),
}
DELIVER: dict[str, Case] = {
    "conversations.take_send": lambda big, name: _chat(
        lambda big, chat: big.conversations.take_send(chat, f"token-{name}")
    )(big, name),
    "turns.write": _turn(_claimed, lambda big, claimed: big.turns.write(claimed, {"question": "?"})),
    "turns.write_chunk": _turn(_claimed, lambda big, claimed: big.turns.write_chunk(claimed, 0, claimed.chunks[0])),
    "turns.finish": _turn(_claimed, lambda big, claimed: big.turns.finish(claimed, TurnState.SENT, big.now, {})),
    "inbox.of_turn": _in_turn(lambda big, opened: big.inbox.of_turn(opened.id)),
    "inbox.close": _in_turn(lambda big, opened: big.inbox.close(opened.id, InboxState.DONE, "")),
    "turns.close": _turn(_terminal, lambda big, opened: big.turns.close(opened.id, big.now)),
    "turns.mark_apologized": _turn(_opened, lambda big, opened: big.turns.mark_apologized(opened.id)),
    "dead_letters.record": lambda big, name: lambda: big.dead_letters.record(letter(big.now, name)),
    "dead_letters.record, again": _letter_again,
}
SWEEP: dict[str, Case] = {
    "turns.overdue": _of(lambda big: big.turns.overdue(big.now, [], 500)),
    "turns.overdue, dead owner": _of(lambda big: big.turns.overdue(big.now, [DEAD_OWNER], 500)),
    "turns.rang": _turn(_opened, lambda big, opened: big.turns.rang(opened, big.after(LEASE))),
    "turns.busy_among": _of(lambda big: big.turns.busy_among(_live_chats())),
    "turns.parked": _of(lambda big: big.turns.parked("channel", "login_needed")),
    "turns.unpark": _turn(_parked, lambda big, parked: big.turns.unpark(parked, big.now, big.now, 1)),
    "conversations.overdue": _of(lambda big: big.conversations.overdue(big.now, 500)),
    "conversations.rang": _chat(lambda big, chat: big.conversations.rang(chat, big.after(LEASE))),
    "conversations.due_among": _of(lambda big: big.conversations.due_among(_live_chats())),
    "accounts.unreminded": _of(lambda big: big.accounts.unreminded(big.now, 100)),
    "configuration.there_are": _of(lambda big: big.configuration.there_are(7, 8)),
    "workers.forget": _of(lambda big: big.workers.forget(big.after(-3_600))),
    "inbox.waiting_chats": _of(lambda big: big.inbox.waiting_chats(*_stuck_since(big))),
}
RETENTION: dict[str, Case] = {
    "retention.rows_with_body": _of(lambda big: big.retention.rows_with_body(*_old(big))),
    "retention.rows": _of(lambda big: big.retention.rows(*_old(big))),
    "retention.turns": _of(lambda big: big.retention.turns(*_old(big))),
    "retention.conversations": _of(lambda big: big.retention.conversations(*_old(big))),
    "retention.letters": _of(lambda big: big.retention.letters(*_old(big))),
    "retention.needed": _turn(_opened, lambda big, opened: big.retention.needed([opened.id])),
    "retention.needed_conversations": _of(lambda big: big.retention.needed_conversations(_live_chats())),
    "retention.strip_rows": _of(lambda big: big.retention.strip_rows(["channel:done-50", "channel:done-51"])),
    "retention.remove_rows": _of(lambda big: big.retention.remove_rows(["channel:live-1", "channel:gone"])),
    "retention.remove_turns": _of(lambda big: big.retention.remove_turns(["gone", "gone too"])),
    "retention.remove_conversation": _of(lambda big: big.retention.remove_conversation("gone", 1)),
    "retention.remove_letter": _of(lambda big: big.retention.remove_letter("gone", big.now)),
}
HEALTH: dict[str, Case] = {
    "channels.logged_in": _of(lambda big: big.channels.logged_in()),
    "turns.active": _of(lambda big: big.turns.active()),
    "turns.count_parked": _of(lambda big: big.turns.count_parked()),
    "conversations.due_times": _of(lambda big: big.conversations.due_times()),
    "inbox.count_waiting": _of(lambda big: big.inbox.count_waiting()),
    "dead_letters.waiting": _of(lambda big: big.dead_letters.waiting()),
}

HOT: dict[str, Case] = SEED | POLL | INTAKE | FLUSH | REPLY | DELIVER | SWEEP | RETENTION | HEALTH

RARE = {
    "channels.add", "channels.all", "channels.log_in", "channels.set_enabled",  # an operator's commands
    "channels.configure", "accounts.set_app",
    "configuration.newest_number", "configuration.get", "configuration.add",  # an operator's, too, and at start
    "configuration.seal", "configuration.open", "workers.tell_configuration",
    "accounts.log_out", "accounts.remove", "accounts.of_owner", "accounts.claim_reminder", "turns.count_open",
    "dead_letters.get", "dead_letters.all_waiting", "dead_letters.mark_replayed", "dead_letters.mark_discarded",
    "turns.reopen", "inbox.reopen",  # replays
    "channels.untake_link", "turns.unclaim",  # when the ledger did not answer in time
    "channels.note_accepted",  # after a refusal
    "turns.count_notices",  # an operator's notices
    "conversations.name_for_engine",  # once in a conversation
    "turns.stop", "inbox.skip", "conversations.forget_before",  # a person's commands
    "turns.has_closed_since",  # several messages at once of a person whose channel keeps them apart
    "inbox.fail", "conversations.begin_overflow",  # more of one person wait than may
    "workers.leave", "turns.hand_back", "channels.of_kinds",  # once in the life of a process
}  # fmt: skip
