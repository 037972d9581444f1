"""The roots of the tree of errors, and what keeps a process from starting."""

from __future__ import annotations


class BridgeError(Exception):
    """Something in the bridge went wrong."""


class SettingsError(BridgeError):
    """A setting has a value it cannot have; the message names the variable and what it should be."""


class ServiceNotReachable(BridgeError):
    """Redis or MongoDB did not answer within the time allowed at start; check its URL and that it runs."""


class LedgerTooNew(BridgeError):
    """The ledger was written by a newer version of the bridge; upgrade this installation."""


class IndexNotBuilt(BridgeError):
    """An index of the ledger could not be built; the message names the keys that stand in the way."""


class TransientError(BridgeError):
    """The same work may succeed later.

    ``retry_after_seconds`` is how long the other side asked us to wait, or None.
    """

    def __init__(self, message: str = "", retry_after_seconds: float | None = None) -> None:
        super().__init__(message or self.__class__.__doc__)
        self.retry_after_seconds = retry_after_seconds


class RefusedError(BridgeError):
    """WeChat refuses and only a person or time can change that; the reply is kept.

    ``reason`` is the short word stored with the parked turn.
    """

    reason = "refused"


class PermanentError(BridgeError):
    """The same work will fail again; it is given up and kept as a dead letter."""
