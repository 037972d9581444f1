"""The base of every task: what an outcome means to Celery, and what happens to an error nobody expected."""

from __future__ import annotations

import inspect
import random
from typing import Any

import structlog
from celery import Task
from celery.exceptions import Reject

from wechat_bridge import wiring
from wechat_bridge.errors import BridgeError, TaskFailed, TransientError, WorkGivenUp
from wechat_bridge.flow.crash import crashed
from wechat_bridge.flow.dead_letters.refused import keep_failed_task
from wechat_bridge.gateway.failure import crashed as event_crashed
from wechat_bridge.model.outcome import GiveUp, Outcome, RetryIn
from wechat_bridge.observe.logging import logger
from wechat_bridge.observe.secrets import masked_text
from wechat_bridge.tasks.doorbells import LONGEST_COUNTDOWN_SECONDS

log = logger(__name__)


def keep_failure(sender: Any, task_id: str, args: Any, exception: BaseException, **_: Any) -> None:
    """Keep the failure of a task as a dead letter; also the handler of ``task_internal_error``, which is Celery's word
    for a doorbell that fails before its task is called."""
    try:
        given = args if isinstance(args, list | tuple) else [args]
        keep_failed_task(wiring.bridge(), sender.name, task_id, given, exception)
    except BridgeError as error:
        log.critical("task_failure_lost", error=str(error))


class BridgeTask(Task):
    """Runs a task with its ids in the log context.

    Early acknowledgement: the ledger knows what is unfinished, the sweep rings again. A transient error of ledger or
    broker ends the task quietly for the same reason.
    """

    abstract = True
    acks_late = False
    ignore_result = True
    max_retries = None  # attempts are counted in the ledger, before the work starts

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the task."""
        with structlog.contextvars.bound_contextvars(task=self.name, task_id=self.request.id):
            try:
                return super().__call__(*args, **kwargs)
            except TransientError as error:
                log.warning("task_interrupted", error=str(error), kind=type(error).__name__)
                return None

    def on_failure(self, exc: Exception, task_id: str, args: Any, kwargs: Any, einfo: Any) -> None:
        """Keep an error nobody expected as a dead letter; the ledger knows what is left to do."""
        if not isinstance(exc, TransientError):
            keep_failure(self, task_id, args, exc)


class ManagementTask(BridgeTask):
    """A task that an operator calls and whose result Celery keeps for a while.

    What goes wrong comes back as TaskFailed, one line without secrets. Arguments are checked here instead of where the
    task is called, so that a wrong one is answered, too.
    """

    abstract = True
    ignore_result = False
    typing = False
    throws = (TaskFailed,)  # an answer, not an error of the task

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the task and translate what goes wrong."""
        with structlog.contextvars.bound_contextvars(task=self.name, task_id=self.request.id):
            try:
                self._check_arguments(args, kwargs)
                return self.run(*args, **kwargs)
            except BridgeError as error:
                reason = str(error)
            except Exception as error:
                # Only its name: the text of an error nobody expected may hold anything.
                log.exception("task_crashed")
                keep_failure(self, self.request.id, args, error)
                reason = f"{type(error).__name__} in the bridge itself; see its log and `wechat-bridge dead list`"
            log.warning("task_refused", reason=reason)
            raise TaskFailed(" ".join(masked_text(reason).split()))

    def _check_arguments(self, args: Any, kwargs: Any) -> None:
        wanted = inspect.signature(self.run)
        try:
            wanted.bind(*args, **kwargs)
        except TypeError as error:
            raise TaskFailed(f"{self.name} takes ({', '.join(wanted.parameters)}): {error}") from None

    def on_failure(self, exc: Exception, task_id: str, args: Any, kwargs: Any, einfo: Any) -> None:
        """Keep nothing: the caller has the answer."""


class WorkTask(BridgeTask):
    """A task about one thing in the ledger; its first argument is the id and its return value an outcome.

    A retry is a countdown doorbell for the due time in the ledger; work given up fails the task, and ``on_failure``
    routes it to the ``dead_letter`` queue.
    """

    abstract = True
    id_name = "id"

    def __call__(self, work_id: str) -> None:
        """Run the task and map its outcome."""
        ids = {"task": self.name, "task_id": self.request.id, self.id_name: work_id}
        with structlog.contextvars.bound_contextvars(**ids):
            outcome = self._outcome(work_id)
            if isinstance(outcome, RetryIn) and outcome.seconds <= LONGEST_COUNTDOWN_SECONDS:
                self._ring_again(outcome.seconds)
            if isinstance(outcome, GiveUp):
                raise WorkGivenUp(f"{work_id}: {outcome.reason}")

    def crashed(self, work_id: str, error: Exception) -> Outcome:
        """Count an error nobody expected against the work, if this process holds it."""
        raise error

    def ring_dead_letter(self, work_id: str) -> None:
        """Ask that what was given up is recorded. Raises BrokerUnavailable."""

    def _ring_again(self, seconds: float) -> None:
        """Ring for the due time in the ledger; if the broker refuses, the sweep rings: the work is not given up."""
        try:
            raise self.retry(countdown=seconds + RETRY_SLACK_SECONDS)
        except Reject as error:
            log.warning("ring_failed", error=str(error))

    def _outcome(self, work_id: str) -> Any:
        try:
            return self.run(work_id)
        except TransientError as error:
            log.warning("task_interrupted", error=str(error), kind=type(error).__name__)
            return RetryIn(_interrupted_seconds(self.request.retries or 0))
        except Exception as error:
            # The one place where an error nobody expected is met: it is counted against the work and kept with it.
            log.exception("task_crashed")
            return self.crashed(work_id, error)

    def on_failure(self, exc: Exception, task_id: str, args: Any, kwargs: Any, einfo: Any) -> None:
        """Route work that was given up to the dead letters; if the broker refuses, the sweep will."""
        if not isinstance(exc, WorkGivenUp):
            super().on_failure(exc, task_id, args, kwargs, einfo)
            return
        try:
            self.ring_dead_letter(args[0])
        except BridgeError as error:
            log.warning("ring_failed", error=str(error), **{self.id_name: args[0]})


class TurnTask(WorkTask):
    """A task about one turn."""

    abstract = True
    id_name = "turn_id"

    def crashed(self, work_id: str, error: Exception) -> Outcome:
        """Count the crash against the turn if this process holds it."""
        return crashed(wiring.bridge(), work_id, error)

    def ring_dead_letter(self, work_id: str) -> None:
        """Ask that the turn is recorded as a dead letter. Raises BrokerUnavailable."""
        wiring.bridge().doorbells.ring_dead_letter(work_id)


class EventTask(WorkTask):
    """A task about one event."""

    abstract = True
    id_name = "event_id"

    def crashed(self, work_id: str, error: Exception) -> Outcome:
        """Count the crash against the event if this process holds it."""
        return event_crashed(wiring.gateway(), work_id, error)

    def ring_dead_letter(self, work_id: str) -> None:
        """Ask that the event is recorded as a dead letter. Raises BrokerUnavailable."""
        wiring.gateway().doorbells.ring_dead_event(work_id)


FIRST_INTERRUPTION_SECONDS = 2.0
LONGEST_INTERRUPTION_SECONDS = 15.0
"""Waits after interruptions before the claim (this process or the ledger was not well). The sweep comes after 15 s."""

RETRY_SLACK_SECONDS = 0.05
"""A doorbell for a due time comes just after it, not just before."""


def _interrupted_seconds(interruptions: int) -> float:
    """Wait longer each time, and not in step: hundreds of doorbells may be waiting for the same ledger."""
    longest = min(FIRST_INTERRUPTION_SECONDS * 2 ** min(interruptions, 10), LONGEST_INTERRUPTION_SECONDS)
    return random.uniform(longest / 2, longest)
