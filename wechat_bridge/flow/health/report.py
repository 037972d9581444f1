"""Whether messages flow: judged by progress in ledger and queues, never by a ping alone."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, computed_field

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.health import callback_checks, channel_checks, work_checks
from wechat_bridge.flow.health.check import Check
from wechat_bridge.flow.health.readings import Readings, read
from wechat_bridge.settings import Settings

__all__ = ["Check", "HealthReport", "judge", "report"]


class HealthReport(BaseModel):
    """Every check, in the order in which a person should read them."""

    model_config = ConfigDict(frozen=True)

    checks: list[Check]

    @computed_field  # type: ignore[prop-decorator]  # mypy does not know decorated properties
    @property
    def ok(self) -> bool:
        """Whether messages of healthy channels flow. Warnings (a login that is needed, say) do not count."""
        return all(check.ok or check.warning for check in self.checks)


def report(bridge: Bridge) -> HealthReport:
    """Read ledger and broker, and judge. Answers within seconds even when both are away; raises nothing."""
    return judge(read(bridge), bridge.settings)


def judge(readings: Readings, settings: Settings) -> HealthReport:
    """Judge what was read. What could not be read is not judged: the service's own check is red then."""
    checks = [
        Check(name="ledger", ok=not readings.ledger_error, detail=_service("MongoDB", readings.ledger_error)),
        Check(name="broker", ok=not readings.broker_error, detail=_service("Redis", readings.broker_error)),
    ]
    if readings.ledger is not None:
        checks += work_checks.of_processes(readings.ledger)
        checks += channel_checks.of_channels(readings.ledger, settings)
        checks += callback_checks.of_callbacks(readings.ledger)
        checks += work_checks.of_work(readings.ledger)
    if readings.broker is not None:
        checks += work_checks.of_queues(readings.broker, readings.ledger, settings)
        checks += work_checks.of_engines(readings.broker)
    return HealthReport(checks=checks)


def _service(name: str, error: str) -> str:
    return f"{error}; start {name} or correct its address, work goes on by itself then" if error else f"{name} answers"
