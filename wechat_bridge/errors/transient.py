"""The same work may succeed later."""

from __future__ import annotations

from wechat_bridge.errors.base import TransientError


class LedgerUnavailable(TransientError):
    """MongoDB cannot be used right now; work goes on when it answers again."""


class BrokerUnavailable(TransientError):
    """Redis cannot be used right now; work goes on when it answers again."""


class PlatformUnavailable(TransientError):
    """WeChat did not answer, or its answer was not what its protocol says."""


class PlatformBusy(TransientError):
    """WeChat asked for a pause."""


class QuotaUsedUp(PlatformBusy):
    """The calls an app may make are used up; everything of it waits until the window ends."""


class EngineUnavailable(TransientError):
    """The reply engine did not answer, or failed in a way that may pass."""


class ConversationBusy(EngineUnavailable):
    """The engine still works on an earlier question of this conversation; others may ask it all the same."""


class OwnerStale(TransientError):
    """This process has not reached the ledger for a while, so it starts nothing that others may be doing."""
