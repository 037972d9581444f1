"""Failures of sends, scripted so that they do not pile up on one turn by accident of the schedule."""

from __future__ import annotations

import random
from typing import Any

from tests.soak.record import Record, Said, ScriptedSend
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.model import keys
from wechat_bridge.model.channel import ChannelKind
from wechat_bridge.simulators.ilink import IlinkControl
from wechat_bridge.store.turns import TurnStore

RECENT = 60
"""Channels of so many newest messages are in question: their users write."""

ANSWERED = frozenset({"send cut after"})
"""Kinds that WeChat processes as usual; of the others it notes that they were scripted."""


class ScriptedSends:
    """Scripts the next send of a bot to fail; the bot's next failure comes after the turn that met it has ended."""

    def __init__(self, control: IlinkControl, turns: TurnStore, record: Record, rng: random.Random) -> None:
        self.control = control
        self.turns = turns
        self.record = record
        self.rng = rng

    def add(self, kind: str, entry: dict[str, Any]) -> bool:
        """Script a failure where none is on its way; False when there is no such channel right now."""
        newest = list(self.record.said)[-RECENT:]
        recent = {said.bot_id: said for said in newest if said.kind is ChannelKind.ILINK}
        for said in self.rng.sample(list(recent.values()), len(recent)):
            if all(self._is_over(scripted) for scripted in self._of(said)[-1:]):
                self._script(kind, said, entry)
                return True
        return False

    def _of(self, said: Said) -> list[ScriptedSend]:
        return [scripted for scripted in self.record.scripted if scripted.said.bot_id == said.bot_id]

    def _script(self, kind: str, said: Said, entry: dict[str, Any]) -> None:
        scripted = ScriptedSend(kind, said, len(self.control.sends(said.bot_id)))
        self.control.script("sendmessage", said.bot_id, **entry)
        self.record.scripted.append(scripted)

    def _is_over(self, scripted: ScriptedSend) -> bool:
        if not is_met(scripted, self.control):
            return False
        chat_id = keys.chat_id(scripted.said.share_id, scripted.user_id)
        try:
            turn = self.turns.open_of(chat_id)
        except LedgerUnavailable:
            return False
        return turn is None or scripted.client_id not in {chunk.client_id for chunk in turn.chunks}


def is_met(scripted: ScriptedSend, control: IlinkControl) -> bool:
    """Whether a send has met the failure: the next one of the bot does. It is noted which one that was."""
    if scripted.client_id:
        return True
    for send in control.sends(scripted.said.bot_id, after=scripted.sends_before):
        if scripted.kind in ANSWERED or send["refused"] == "scripted":
            scripted.client_id, scripted.user_id = send["client_id"], send["user_id"]
            return True
    return False
