"""One tree of errors; the class decides what happens to the work at hand.

::

    BridgeError
    ├── SettingsError            the process stops at start
    ├── ServiceNotReachable      the process stops at start (Redis or MongoDB did not answer in time)
    ├── LedgerTooNew             the process stops at start
    ├── IndexNotBuilt            the process stops at start
    ├── local.DataFolderInUse / DataFolderUnusable, cli.NoAnswer: the command ends
    ├── TransientError           retry: the same work may succeed later
    │   ├── LedgerUnavailable    MongoDB
    │   ├── BrokerUnavailable    Redis
    │   ├── PlatformUnavailable  WeChat did not answer, or not as its protocol says
    │   ├── PlatformBusy         WeChat asked for a pause
    │   ├── EngineUnavailable    the reply engine
    │   └── OwnerStale           this process has not proved to be alive lately
    ├── RefusedError             park: only somebody else can change the situation
    │   ├── SessionExpired       a login is needed
    │   ├── SendRefused          WeChat refused this send
    │   └── SendBudgetExhausted  no sends left until the person writes again
    └── PermanentError           give up: the same work will fail again
        ├── EngineRefused        the reply engine says no
        ├── NotConfigured        something the work needs is not set up
        ├── ChannelExists / ChannelUnknown / ChannelBusy / AccountTaken / LoginFailed
        ├── DeadLetterUnknown / ReplayRefused
        ├── MediaUnreadable      a picture or file that came in; its turn says so and goes on
        ├── MediaRefused         WeChat takes a picture or file of ours by no means
        ├── TurnGivenUp          raised by the base task, so that Celery records the failure
        ├── AccessRefused        an operator's decision about who may talk that cannot be had
        ├── NoticeRefused        a message that nobody asked for, where WeChat allows none
        ├── TaskFailed           what a management task answers when it cannot do what it was asked
        └── DocumentInvalid      a stored document does not fit its model

Messages say what happened, to what, and what to do. They never carry a secret.
"""

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


class LedgerUnavailable(TransientError):
    """MongoDB cannot be used right now; work goes on when it answers again."""


class BrokerUnavailable(TransientError):
    """Redis cannot be used right now; work goes on when it answers again."""


class PlatformUnavailable(TransientError):
    """WeChat did not answer, or its answer was not what its protocol says."""


class PlatformBusy(TransientError):
    """WeChat asked for a pause."""


class EngineUnavailable(TransientError):
    """The reply engine did not answer, or failed in a way that may pass."""


class OwnerStale(TransientError):
    """This process has not reached the ledger for a while, so it starts nothing that others may be doing."""


class RefusedError(BridgeError):
    """WeChat refuses and only a person or time can change that; the reply is kept.

    ``reason`` is the short word stored with the parked turn.
    """

    reason = "refused"


class SessionExpired(RefusedError):
    """The WeChat session has ended (-14); log the channel in again."""

    reason = "login_needed"


class SendRefused(RefusedError):
    """WeChat refused a send; the reply waits for the person's next message."""

    reason = "send_refused"

    def __init__(self, code: int, errmsg: str) -> None:
        super().__init__(f"WeChat refused the send with code {code} ({errmsg or 'no errmsg'})")
        self.code = code
        self.errmsg = errmsg


class SendBudgetExhausted(RefusedError):
    """No sends are left for this conversation; the rest goes out when the person writes again."""

    reason = "send_budget"


class PermanentError(BridgeError):
    """The same work will fail again; it is given up and kept as a dead letter."""


class EngineRefused(PermanentError):
    """The reply engine refuses this request; look at its configuration."""


class NotConfigured(PermanentError):
    """Something this work needs is not set up; the message names it."""


class ChannelExists(PermanentError):
    """A channel of that share_id already exists; choose another share_id."""


class ChannelUnknown(PermanentError):
    """There is no channel of that share_id; `wechat-bridge channel list` shows those there are."""


class AccountTaken(PermanentError):
    """The WeChat account is already online in another channel; the message names it."""


class ChannelBusy(PermanentError):
    """A channel cannot be removed while replies are under way; the message says how many and what to do."""


class LoginFailed(PermanentError):
    """A QR login ended without an account, or there is none to go on with; the message says why and what to do."""


class DeadLetterUnknown(PermanentError):
    """There is no dead letter of that id; `wechat-bridge dead list` shows those there are."""


class ReplayRefused(PermanentError):
    """A dead letter cannot be replayed or discarded as things are; the message says why and what to do."""


class MediaUnreadable(PermanentError):
    """What somebody sent cannot be had; the turn goes on without it.

    ``problem`` says why in the words a person reads in the question.
    """

    def __init__(self, problem: str, detail: str = "") -> None:
        super().__init__(f"{problem} ({detail})" if detail else str(problem))
        self.problem = problem


class MediaRefused(PermanentError):
    """WeChat refuses a picture or file of ours; the message says what it said. The stored answer can be replayed."""


class AccessRefused(PermanentError):
    """An operator's decision about who may talk cannot be had as given; the message says why and what to do."""


class NoticeRefused(PermanentError):
    """A message that nobody asked for cannot be sent; the message says why and what to do."""


class TurnGivenUp(PermanentError):
    """A turn was given up; it can be replayed from the dead letters."""


class TaskFailed(PermanentError):
    """A management task could not do what it was asked; the message is one line that says why."""


class DocumentInvalid(PermanentError):
    """A stored document does not fit its model; the message names collection, id and field."""
