"""Which kind of process answers which queues, and what a process in the ledger is."""

from __future__ import annotations

from wechat_bridge.model.worker import Worker

POLL_QUEUE = "poll"

ROLES: dict[str, tuple[str, ...]] = {
    "poll": (POLL_QUEUE,),
    "reply": ("inbox", "reply", "deliver", "events"),
    "ops": ("management", "maintenance", "history", "dead_letter"),
}
"""The kinds of Celery workers, each with its queues. Every queue belongs to exactly one."""

QUEUES = tuple(queue for queues in ROLES.values() for queue in queues)

KINDS = (*ROLES, "beat", "web", "other")
"""Everything ``kinds_of`` can return."""


def kinds_of(worker: Worker) -> tuple[str, ...]:
    """Return what a process does: a worker's kinds follow from its queues, and one worker may be of several."""
    if worker.kind != "worker":
        return (worker.kind,) if worker.kind in KINDS else ("other",)
    return tuple(kind for kind, queues in ROLES.items() if set(queues) & set(worker.queues)) or ("other",)
