"""Failures of calls to WeCom: one at a time for an app, and never two on one turn by accident of the schedule."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping
from typing import Any

from tests.soak.record import Record, Said, ScriptedCall
from tests.soak.scripted import RECENT
from tests.soak.stage import Stage
from tests.support.customer_world import CustomerWorld
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.model import keys
from wechat_bridge.model.channel import ChannelKind
from wechat_bridge.simulators.wecom import WecomControl
from wechat_bridge.store.turns import TurnStore

Row = dict[str, Any]

SENDS = {ChannelKind.WECOM: "message/send", ChannelKind.WECOM_KF: "kf/send_msg"}
PULL = "kf/sync_msg"
GETTOKEN = "gettoken"
TOKEN_CODES = (42001, 40014)

ENTRIES: Mapping[str, dict[str, Any]] = {
    "WeCom busy": {"errcode": -1},
    "WeCom cut before": {"cut": True},
    "WeCom cut after": {"cut": True, "process": True},
    "WeCom too many at once": {"errcode": 45033},
    "WeCom quota used up": {"errcode": 45009},
    "pull refused": {"errcode": -1},
    "pull cut": {"cut_after_bytes": 20},
}
"""What the next call gets, by the kind of fault."""


class CallLog:
    """The calls that the simulated WeCom has got, fetched bit by bit."""

    def __init__(self, control: WecomControl) -> None:
        self._control = control
        self._rows: dict[str, list[Row]] = {}

    def since(self, path: str, at: float) -> list[Row]:
        """Return the calls of a path from a Unix time on."""
        rows = self._rows.setdefault(path, [])
        rows += self._control.calls(path, after=len(rows))
        return [row for row in rows if row["at"] >= at]


class ScriptedCalls:
    """Lets the next call of an app fail; the app's next failure comes after the turn that met it has ended."""

    def __init__(self, stage: Stage, record: Record, rng: random.Random) -> None:
        self.control = stage.wecom_control()
        self.log = CallLog(self.control)
        self.turns: TurnStore = stage.system.wired.bridge.turns
        self.stage = stage
        self.record = record
        self.rng = rng

    def add(self, kind: str) -> bool:
        """Let a call fail where no failure is on its way; False when there is no such app right now."""
        recent = {said.bot_id: said for said in list(self.record.said)[-RECENT:] if is_of(kind, said)}
        for said in self.rng.sample(list(recent.values()), len(recent)):
            if all(self._is_over(scripted) for scripted in self._of(said)):
                return self._begin(kind, said)
        return False

    def _of(self, said: Said) -> list[ScriptedCall]:
        return [scripted for scripted in self.record.calls if scripted.said.bot_id == said.bot_id][-1:]

    def _begin(self, kind: str, said: Said) -> bool:
        scripted = ScriptedCall(kind, said, time.time(), paths_of(kind, said), self._open_kfid(said))
        if kind == "token expired":
            scripted.errcodes = TOKEN_CODES
            if not self.control.expire_token(said.bot_id, self.rng.choice(TOKEN_CODES)):
                return False  # it has asked for none yet
        elif kind == "pull killed":
            scripted.flag = self.stage.pull_flag
            scripted.flag.touch()
        else:
            self.control.script(scripted.paths[0], said.bot_id, **ENTRIES[kind])
        self.record.calls.append(scripted)
        return True

    def _open_kfid(self, said: Said) -> str:
        world = self.stage.world_of(said.share_id)
        return world.open_kfid if isinstance(world, CustomerWorld) else ""

    def _is_over(self, scripted: ScriptedCall) -> bool:
        if not is_met(scripted, self.log):
            return False
        if not scripted.text:
            return True
        try:
            turn = self.turns.open_of(keys.chat_id(scripted.said.share_id, scripted.user_id))
        except LedgerUnavailable:
            return False
        return turn is None or scripted.text not in {chunk.text for chunk in turn.chunks}


def is_of(kind: str, said: Said) -> bool:
    """Whether a kind of failure can meet the calls for this message's channel."""
    return said.kind is ChannelKind.WECOM_KF if kind.startswith("pull") else said.kind in SENDS


def paths_of(kind: str, said: Said) -> tuple[str, ...]:
    """Return the calls that may meet a failure."""
    if kind.startswith("pull"):
        return (PULL,)
    if kind != "token expired":
        return (SENDS[said.kind],)
    # A token that was forgotten with Redis meanwhile is refused to nobody: another one is asked for.
    return (SENDS[said.kind], GETTOKEN, *([PULL] if said.kind is ChannelKind.WECOM_KF else []))


def is_met(scripted: ScriptedCall, log: CallLog) -> bool:
    """Whether a call has met the failure; it is noted which text that was about, if it was a send."""
    if scripted.flag is not None:
        scripted.is_met = scripted.is_met or not scripted.flag.exists()
    elif not scripted.is_met:
        found = [row for path in scripted.paths for row in log.since(path, scripted.at) if _has_met(scripted, row)]
        if found:
            body = _body(found[0])
            scripted.user_id, scripted.text = str(body.get("touser", "")), str(body.get("text", {}).get("content", ""))
            scripted.is_met = True
    return scripted.is_met


def _has_met(scripted: ScriptedCall, row: Row) -> bool:
    """A call without a good token, or that is not processed, is noted without its app: the body tells."""
    if row["path"].endswith(GETTOKEN):
        return bool(row["app"] == scripted.said.bot_id)
    body = _body(row)
    is_ours = str(body.get("touser", "")).endswith(f"-{scripted.said.share_id}")
    is_ours = is_ours or body.get("open_kfid") == scripted.open_kfid != ""
    return is_ours and (row["errcode"] in scripted.errcodes if scripted.errcodes else bool(row["scripted"]))


def _body(row: Row) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(row["body"] or "{}")
    return body
