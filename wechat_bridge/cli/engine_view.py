"""What people may see of an engine: never its key, nor its address, which may hold one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wechat_bridge.flow.admission import limits
from wechat_bridge.flow.context import Bridge
from wechat_bridge.store.engine_gates import GateState

COLUMNS = ("ENGINE", "KIND", "LIMIT", "IN USE", "WAITING", "STATE")


@dataclass(frozen=True)
class ShownEngine:
    """An engine, and how its gate stands; None for the echo, which has none."""

    name: str
    kind: str
    gate: GateState | None

    def as_fields(self) -> dict[str, Any]:
        """Return the engine as JSON values; times are ISO 8601 in UTC, limit 0: none."""
        gate = self.gate or GateState(self.name, limit=0, in_use=0, waiting=0, open_since=None, reason="")
        return {
            "engine": self.name,
            "kind": self.kind,
            "max_concurrency": gate.limit,
            "in_use": gate.in_use if gate.limit else None,
            "waiting": gate.waiting,
            "is_open": gate.is_open,
            "open_since": gate.open_since.isoformat() if gate.open_since else None,
            "last_error": gate.reason,
        }

    def as_row(self) -> tuple[str, ...]:
        """Return the columns of the list."""
        gate = self.gate
        if gate is None:
            return self.name, self.kind, "-", "-", "-", "answers"
        limit, used = (str(gate.limit), str(gate.in_use)) if gate.limit else ("-", "-")
        return self.name, self.kind, limit, used, str(gate.waiting), _state(gate)


def described(bridge: Bridge) -> list[ShownEngine]:
    """Return every engine by name. Raises BrokerUnavailable."""
    gates = {gate.engine: gate for gate in bridge.gates.look(limits(bridge))}
    return [ShownEngine(name, _kind(bridge, name), gates.get(name)) for name in sorted(bridge.engines)]


def _kind(bridge: Bridge, name: str) -> str:
    settings = bridge.settings.engines.get(name)
    return settings.kind if settings else "package" if name in limits(bridge) else name


def _state(gate: GateState) -> str:
    if gate.open_since is not None:
        return f"does not answer since {gate.open_since:%Y-%m-%d %H:%M:%S} UTC: {gate.reason}"
    return "full" if gate.is_shut else "answers"
