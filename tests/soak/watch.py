"""Waits until everything is quiet, and shows how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable

from pymongo.collection import Collection
from pymongo.errors import PyMongoError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tests.soak.plan import Plan
from tests.soak.record import Record, Said, ScriptedCall, ScriptedSend
from tests.soak.scripted import is_met
from tests.soak.scripted_calls import CallLog
from tests.soak.scripted_calls import is_met as is_call_met
from tests.soak.stage import Stage
from tests.soak.traffic import Traffic
from tests.support.customer_world import CustomerWorld
from wechat_bridge.flow.customer_service.pull import SAFETY_SECONDS
from wechat_bridge.model import keys
from wechat_bridge.model.channel import ChannelKind
from wechat_bridge.store import redis_keys
from wechat_bridge.store.ledger import Document

LOOK_SECONDS = 1.0
STRICT_QUIET_SECONDS = 20.0
"""With the strict cursor some messages never come: the ledger has to be quiet for so long instead."""

SETTLE_SECONDS = 6.0
"""After everything was answered, one more sweep may show what should not be answered again."""

NUDGE_SECONDS = 10.0
LINE_SECONDS = 10.0


class Watch:
    """Counts answers as the users see them."""

    def __init__(self, plan: Plan, stage: Stage, record: Record) -> None:
        self.plan = plan
        self.stage = stage
        self.record = record
        self.control = stage.control()
        self.wecom = stage.wecom_control()
        self.calls = CallLog(self.wecom)
        self.heard: dict[str, set[str]] = {}
        self._seen: dict[str, int] = {}
        self._nudged: dict[str, float] = {}
        self._said_at = 0.0

    def look(self) -> int:
        """Return how many messages have been answered so far."""
        for user_id, kind in {(said.user_id, said.kind) for said in list(self.record.said)}:
            screen = self.control if kind is ChannelKind.ILINK else self.wecom
            rows = screen.deliveries(user_id, after=self._seen.get(user_id, 0))
            self._seen[user_id] = self._seen.get(user_id, 0) + len(rows)
            self.heard.setdefault(user_id, set()).update(line for row in rows for line in row["text"].split("\n"))
        return len(self.record.said) - len(self._unanswered())

    def _unanswered(self) -> list[Said]:
        return [said for said in list(self.record.said) if said.text not in self.heard.get(said.user_id, ())]

    def until(self, over: Callable[[], bool], seconds: float) -> bool:
        """Show progress until it is over; False when the time is up."""
        deadline = time.monotonic() + seconds
        with _progress() as bar:
            written = bar.add_task("written", total=self.plan.messages)
            answered = bar.add_task("answered", total=self.plan.messages)
            faults = bar.add_task("faults", total=None)
            while True:
                bar.update(written, completed=len(self.record.said))
                bar.update(answered, completed=self.look(), total=len(self.record.said) or None)
                bar.update(faults, completed=sum(self.record.counts().values()), total=len(self.record.injected))
                self._say_where_no_terminal(bar)
                if over():
                    return True
                if time.monotonic() > deadline:
                    return False
                time.sleep(LOOK_SECONDS)

    def _say_where_no_terminal(self, bar: Progress) -> None:
        """In a log file a line now and then does the work of a bar."""
        if not bar.console.is_terminal and time.monotonic() - self._said_at > LINE_SECONDS:
            self._said_at = time.monotonic()
            line = ", ".join(f"{task.completed:.0f} {task.description}" for task in bar.tasks)
            bar.console.print(f"{time.strftime('%H:%M:%S')} {line}", highlight=False)

    def drain(self, traffic: Traffic) -> bool:
        """Wait until all is answered or given up and nothing is left to do."""
        quiet_since: list[float] = []
        self._let_accounts_be_read()

        def quiet() -> bool:
            self.nudge(traffic)
            if self._unmet() or not self._ledger_is_clean():
                quiet_since.clear()
                return False
            quiet_since.append(time.monotonic())
            self.look()
            strict = self.plan.cursor == "strict" and time.monotonic() - quiet_since[0] > STRICT_QUIET_SECONDS
            return self._is_settled() or strict

        done = self.until(quiet, self.plan.drain_seconds)
        time.sleep(SETTLE_SECONDS)
        return done

    def _let_accounts_be_read(self) -> None:
        """Let the five minutes pass after which an account is read for which every doorbell was lost."""
        for world in self.stage.worlds:
            if isinstance(world, CustomerWorld):
                world.let_pass(SAFETY_SECONDS)

    def _ledger_is_clean(self) -> bool:
        bridge = self.stage.system.wired.bridge
        waits = {"state": {"$in": ["pending", "in_turn"]}}
        spilled = self.stage.system.wired.redis.scard(redis_keys.SPILLED)
        is_busy = bridge.turns.collection.find_one({"open": True}) or bridge.inbox.collection.find_one(waits)
        return not is_busy and not spilled

    def _is_settled(self) -> bool:
        """Whether every message was answered, or given up: the verdict looks into those."""
        left = {keys.inbox_id(said.share_id, said.message_id) for said in self._unanswered()}
        if not left:
            return True
        dead = self._turns().find({"state": "dead"}, {"message_ids": 1})
        return left <= {row_id for turn in dead for row_id in turn["message_ids"]} | self._never_coming()

    def _never_coming(self) -> set[str]:
        """Rows that may never be: the ledger is clean, and the verdict asks who could have kept their callbacks."""
        given_up = {row["callback_id"] for row in self.wecom.callbacks() if row["state"] == "given_up"}
        flushed = self.record.spilled_and_flushed
        called = [said for said in self._unanswered() if said.callback_id]
        lost = [said for said in called if said.callback_id in given_up or said.message_id in flushed]
        return {keys.inbox_id(said.share_id, said.message_id) for said in lost}

    def _unmet(self) -> list[ScriptedSend | ScriptedCall]:
        sends = [scripted for scripted in self.record.scripted if not is_met(scripted, self.control)]
        return [*sends, *(scripted for scripted in self.record.calls if not is_call_met(scripted, self.calls))]

    def _turns(self) -> Collection[Document]:
        return self.stage.system.wired.bridge.turns.collection

    def nudge(self, traffic: Traffic) -> None:
        """Let users write again: for a parked answer, and for a scripted failure that no send has met yet."""
        try:
            waiting = {turn["user_id"] for turn in self._turns().find({"state": "parked"}, {"user_id": 1})}
        except PyMongoError:
            return
        waiting |= {scripted.said.user_id for scripted in self._unmet()}
        for user_id in sorted(waiting):
            if time.monotonic() - self._nudged.get(user_id, 0.0) > NUDGE_SECONDS:
                self._nudged[user_id] = time.monotonic()
                traffic.write(traffic.number_of(user_id))


def _progress() -> Progress:
    columns = (TextColumn("{task.description:>9}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
