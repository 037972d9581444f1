"""How each kind of fault is injected and undone."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import redis
from pymongo.errors import PyMongoError

from tests.soak.plan import Fault
from tests.soak.record import Injected, Record, Said
from tests.soak.scripted import RECENT, ScriptedSends
from tests.soak.scripted_calls import ENTRIES, ScriptedCalls
from tests.soak.stage import Stage
from tests.support.customer_world import CustomerWorld
from wechat_bridge.errors import BridgeError
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.channel import ChannelKind
from wechat_bridge.model.message import InboxRow
from wechat_bridge.store import redis_keys

TERMINATE_SECONDS = 60.0
"""After SIGTERM a process may finish its open poll (3 s) and wait for servers that are away; no longer than this."""

CALLED_MEANWHILE = 2
"""So many members of the company write when MongoDB goes away."""

RINGS = 60
"""Of so many newest turns the doorbells are doubled."""


class Lane(threading.Thread):
    """Injects the faults of one lane, one after the other, and restarts its process when that ends by itself."""

    def __init__(self, name: str, faults: list[Fault], stage: Stage, record: Record, began: float, seed: int) -> None:
        super().__init__(name=f"lane-{name}", daemon=True)
        self.lane = name
        self.faults = faults
        self.stage = stage
        self.record = record
        self.began = began
        self.done = threading.Event()
        self.over = threading.Event()
        self.rng = random.Random(f"{seed}-{name}")
        self.control = stage.control()
        self.wecom = stage.wecom_control()
        self.scripted = ScriptedSends(self.control, stage.system.wired.bridge.turns, record, self.rng)
        self.calls = ScriptedCalls(stage, record, self.rng)

    def run(self) -> None:
        """Work through the schedule, then only keep the process alive until the run is over."""
        for fault in self.faults:
            while time.monotonic() < self.began + fault.at:
                self._rest()
            if self.over.is_set():
                return
            with self._turn():
                injected = self.record.begin(fault.kind, self.lane)
                self._actions()[fault.kind.removesuffix(f" {self.lane.partition('-')[0]}")](fault, injected)
                self._wait_until_it_answers()
            injected.ended = time.time()
        self.done.set()
        while not self.over.is_set():
            self._rest()
        self.control.close()
        self.wecom.close()

    def _turn(self) -> AbstractContextManager[object]:
        """One web process at a time is away, as in a rolling deploy: WeCom gives a callback up within seconds."""
        return self.stage.web_lock if self.lane in self.stage.web_ports else nullcontext()

    def _wait_until_it_answers(self) -> None:
        if self.lane in self.stage.web_ports:
            while not self.stage.answers(self.lane) and not self.over.is_set():
                self._rest()

    def _rest(self) -> None:
        self.over.wait(0.1)
        process = self.stage.system.processes.get(self.lane)
        if process is not None and not process.alive:
            if not self.stage.died_in_a_pull(process.pid):
                self.record.restarts.append((self.lane, time.time()))
            self.stage.start(self.lane)

    def _actions(self) -> dict[str, Callable[[Fault, Injected], None]]:
        return {
            "kill": self._kill,
            "terminate": self._terminate,
            "freeze": self._freeze,
            "redis restart": self._redis_restart,
            "redis flush": self._redis_flush,
            "mongo pause": self._mongo_pause,
            "mongo restart": self._mongo_restart,
            "both away": self._both_away,
            "message redelivered": self._redeliver,
            "messages reordered": self._reorder,
            "send HTTP 500": self._script(status=500, body="busy"),
            "send refused": self._script(answer={"ret": -2, "errmsg": "prepare failed"}),
            "send cut before": self._script(cut=True),
            "send cut after": self._script(cut=True, process=True),
            "doorbells doubled": self._double_doorbells,
            "callback repeated": self._repeat_callback,
            "callbacks reordered": self._wish,
            "callback lost": self._wish,
            **dict.fromkeys([*ENTRIES, "token expired", "pull killed"], self._fail_call),
        }

    # Processes

    def _kill(self, fault: Fault, _injected: Injected) -> None:
        self.stage.system.kill(self.lane)
        time.sleep(fault.seconds)
        self.stage.start(self.lane)

    def _terminate(self, fault: Fault, injected: Injected) -> None:
        process = self.stage.system.processes[self.lane]
        process.terminate()
        deadline = time.monotonic() + TERMINATE_SECONDS
        while process.alive and time.monotonic() < deadline:
            time.sleep(0.05)
        injected.remark = f"ended after {time.time() - injected.began:.1f} s"
        if process.alive:
            self.record.complain(f"{self.lane} did not end within {TERMINATE_SECONDS:.0f} s after SIGTERM")
            process.kill()
        time.sleep(fault.seconds)
        self.stage.start(self.lane)

    def _freeze(self, fault: Fault, _injected: Injected) -> None:
        self.stage.system.freeze(self.lane)
        time.sleep(fault.seconds)
        self.stage.system.thaw(self.lane)

    # Servers

    def _redis_restart(self, fault: Fault, _injected: Injected) -> None:
        with self.stage.redis_lock:
            self.stage.redis.stop()
            time.sleep(fault.seconds)
            self.stage.redis.start()

    def _redis_flush(self, _fault: Fault, _injected: Injected) -> None:
        with self.stage.redis_lock:
            self._flush()

    def _flush(self) -> None:
        """Flush, noting in the same step which messages had no other place than the spill."""
        with redis.Redis.from_url(self.stage.redis.url, decode_responses=True) as client, client.pipeline() as both:
            for world in self.stage.worlds:
                both.lrange(redis_keys.spill(world.share_id), 0, -1)
            both.flushall()
            batches = [batch for found in both.execute()[:-1] for batch in found]
        rows = [InboxRow.model_validate(row) for batch in batches for row in json.loads(batch)]
        self.record.spilled_and_flushed |= {row.message_id for row in rows}

    def _both_away(self, fault: Fault, injected: Injected) -> None:
        """Neither can keep a callback: WeCom gets no answer, and repeats it."""
        with self.stage.redis_lock:
            self.stage.redis.stop()
            self._mongo_pause(fault, injected)
            self.stage.redis.start()

    def _mongo_pause(self, fault: Fault, _injected: Injected) -> None:
        """Members of the company write at once: their messages are kept elsewhere meanwhile."""
        self.record.wishes["plain"].release(CALLED_MEANWHILE)
        os.kill(self.stage.mongo.pid, signal.SIGSTOP)
        time.sleep(fault.seconds)
        os.kill(self.stage.mongo.pid, signal.SIGCONT)

    def _mongo_restart(self, fault: Fault, injected: Injected) -> None:
        """Half of the time in good order, half of the time as a crash."""
        if self.rng.random() < 0.5:
            self.stage.mongo.kill()
            injected.remark = "killed"
        else:
            self.stage.mongo.stop()
            injected.remark = f"stopped in {time.time() - injected.began:.1f} s"
        time.sleep(fault.seconds)
        self.stage.mongo.start()

    # WeChat

    def _redeliver(self, _fault: Fault, _injected: Injected) -> None:
        said = self._recent()
        self.control.redeliver(said.bot_id, said.message_id)

    def _recent(self, *kinds: ChannelKind) -> Said:
        """Return one of the newest messages: its channel has users who write."""
        wanted = kinds or (ChannelKind.ILINK,)
        while not (found := [said for said in list(self.record.said)[-RECENT:] if said.kind in wanted]):
            time.sleep(0.05)
        return self.rng.choice(found)

    def _reorder(self, _fault: Fault, injected: Injected) -> None:
        """The next message is written as two in one batch, the later one first."""
        self.record.reorders.release()
        injected.remark = "asked for"

    def _script(self, **entry: object) -> Callable[[Fault, Injected], None]:
        def script(fault: Fault, _injected: Injected) -> None:
            while not self.scripted.add(fault.kind, entry) and not self.over.is_set():
                self._rest()

        return script

    # WeCom

    def _repeat_callback(self, fault: Fault, injected: Injected) -> None:
        """The next callback comes three times at once, or an earlier one again: every delivery is encrypted anew."""
        if self.rng.random() < 0.5:
            self._wish(fault, injected)
            return
        said = self._recent(ChannelKind.WECOM, ChannelKind.WECOM_KF)
        world = self.stage.world_of(said.share_id)
        if isinstance(world, CustomerWorld):
            self.wecom.kf_ring(world.open_kfid)
        else:
            self.wecom.repeat(said.callback_id)

    def _wish(self, fault: Fault, injected: Injected) -> None:
        self.record.wishes[fault.kind].release()
        injected.remark = "asked for"

    def _fail_call(self, fault: Fault, injected: Injected) -> None:
        while not self.calls.add(fault.kind) and not self.over.is_set():
            self._rest()
        injected.remark = "asked for"

    # Doorbells

    def _double_doorbells(self, _fault: Fault, injected: Injected) -> None:
        """Ring everything again that may have been rung, the links before included. No doorbell may do harm."""
        bridge = self.stage.system.wired.bridge
        while not self.over.is_set():
            try:
                self._ring_everything(bridge)
            except (BridgeError, PyMongoError) as error:
                injected.remark = f"begun again after {type(error).__name__}"
                self.over.wait(1.0)
            else:
                return

    @staticmethod
    def _ring_everything(bridge: Bridge) -> None:
        for channel in bridge.channels.all():
            if channel.kind is ChannelKind.ILINK:
                for generation in (channel.generation, channel.generation, channel.generation - 1):
                    bridge.doorbells.ring_poll(channel.id, generation)
            elif channel.kind is ChannelKind.WECOM_KF:
                bridge.doorbells.ring_pull(channel.id)
                bridge.doorbells.ring_pull(channel.id)
        for row in list(bridge.turns.collection.find({}, {"chat_id": 1}).sort("_id", -1).limit(RINGS)):
            bridge.doorbells.ring_flush(row["chat_id"])
            bridge.doorbells.ring_reply(row["_id"])
            bridge.doorbells.ring_deliver(row["_id"])
