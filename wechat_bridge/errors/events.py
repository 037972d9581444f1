"""What becomes of an event that cannot be taken, or handed over."""

from __future__ import annotations

from collections.abc import Sequence

from wechat_bridge.errors.base import PermanentError, TransientError


class EventRefused(PermanentError):
    """An event cannot be taken as it is; ``stage`` is where that was seen, ``status`` the HTTP status of the answer."""

    stage = "parse"
    status = 400


class UnsupportedMediaType(EventRefused):
    """No adapter reads this content type; the message names it and those that are read."""

    status = 415


class MessageParseError(EventRefused):
    """An event is not what its content type says; the cause is chained, the message quotes nothing of the payload."""


class PayloadTooLarge(EventRefused):
    """An event has more bytes, values or levels than allowed."""

    status = 413


class ValidationError(EventRefused):
    """An event does not fit: ``errors`` are pairs of path and reason, without any value of the payload."""

    stage = "validate"

    def __init__(self, message: str, errors: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message)
        self.errors = tuple(errors)


class DispatchRefused(PermanentError):
    """Nobody takes an event: no route fits, or its target refuses it; the message says which and why."""


class DispatchUnavailable(TransientError):
    """The target of an event did not answer, or not well; ``may_have_effect`` says that it may have got it."""

    def __init__(
        self, message: str = "", retry_after_seconds: float | None = None, *, may_have_effect: bool = False
    ) -> None:
        super().__init__(message, retry_after_seconds)
        self.may_have_effect = may_have_effect
