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
    │   │   └── QuotaUsedUp      an app's calls are used up until a minute, hour or day has ended
    │   ├── EngineUnavailable    the reply engine
    │   │   └── ConversationBusy   it still works on an earlier question of this conversation
    │   ├── DispatchUnavailable  who should get an event
    │   └── OwnerStale           this process has not proved to be alive lately
    ├── RefusedError             park: only somebody else can change the situation
    │   ├── SessionExpired       a login is needed
    │   ├── SendRefused          WeChat refused this send
    │   ├── SendBudgetExhausted  no sends left until the person writes again
    │   ├── SessionNotOurs       a human serves the person, or their customer service session has ended
    │   └── AppHeld              nothing of this app goes out until an operator has changed something at WeCom
    │       ├── AddressNotTrusted  our address is not among its trusted ones; it carries the address
    │       ├── CredentialRefused  its secret or corp id is wrong
    │       └── PermissionMissing  the app may not do this
    └── PermanentError           give up: the same work will fail again
        ├── EngineRefused        the reply engine says no
        ├── NotConfigured        something the work needs is not set up
        ├── ChannelExists / ChannelUnknown / ChannelBusy / ChannelInvalid / AccountTaken / LoginFailed
        ├── DeadLetterUnknown / ReplayRefused
        ├── MediaUnreadable      a picture or file that came in; its turn says so and goes on
        ├── MediaRefused         WeChat takes a picture or file of ours by no means
        │   └── MediaExpired     the id under which WeCom has it is not good any more
        ├── RecipientRefused     this person cannot be reached; everybody else can
        ├── ContentRefused       WeChat takes this message by no means
        ├── CallbackRefused      a callback is answered with its ``status`` and forgotten
        │   ├── CallbackForged     its signature, its time or its receiver is wrong
        │   └── CallbackMalformed  it cannot be read
        ├── EventRefused         an event is answered with its ``status``; sent again as it is, it would fail again
        │   ├── UnsupportedMediaType  no adapter reads its content type
        │   ├── MessageParseError     it is not what its content type says
        │   ├── PayloadTooLarge       it is larger or deeper than allowed
        │   └── ValidationError       its type is unknown, or its payload does not fit the schema
        ├── DispatchRefused      whoever should get an event refuses it, or nobody is to get it
        ├── TurnGivenUp          raised by the base task, so that Celery records the failure
        ├── AccessRefused        an operator's decision about who may talk that cannot be had
        ├── NoticeRefused        a message that nobody asked for, where WeChat allows none
        ├── TaskFailed           what a management task answers when it cannot do what it was asked
        └── DocumentInvalid      a stored document does not fit its model

Messages say what happened, to what, and what to do. They never carry a secret.
"""

from __future__ import annotations

from collections.abc import Sequence


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


class QuotaUsedUp(PlatformBusy):
    """The calls an app may make are used up; everything of it waits until the window ends."""


class EngineUnavailable(TransientError):
    """The reply engine did not answer, or failed in a way that may pass."""


class ConversationBusy(EngineUnavailable):
    """The engine still works on an earlier question of this conversation; others may ask it all the same."""


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


class SessionNotOurs(RefusedError):
    """A customer service session is with a human, waits for one, or has ended; a bot may not write into it now."""

    reason = "session_not_ours"


class AppHeld(RefusedError):
    """WeCom refuses whatever this app does until somebody changes its configuration; the message says what.

    ``code`` is WeCom's number for it.
    """

    reason = "app_held"

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class AddressNotTrusted(AppHeld):
    """WeCom does not take calls from our address; ``address`` is the one to allow, "" when WeCom did not say."""

    reason = "address_not_trusted"

    def __init__(self, message: str, code: int, address: str) -> None:
        super().__init__(message, code)
        self.address = address


class CredentialRefused(AppHeld):
    """WeCom does not know the app's secret or corp id; the channel needs the right ones."""

    reason = "credential_refused"


class PermissionMissing(AppHeld):
    """The app is disabled or lacks a permission; the message says what to look at."""

    reason = "permission_missing"


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


class ChannelInvalid(PermanentError):
    """A channel cannot be set up as given; the message says why and what to do."""


class ChannelBusy(PermanentError):
    """Something else goes on with a channel (replies under way, another change); the message says what to do."""


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


class RecipientRefused(PermanentError):
    """One person cannot be reached: gone, outside the app's visible range, or without a licence."""


class ContentRefused(PermanentError):
    """WeCom refuses a message for what is in it; sending it again would change nothing."""


class CallbackRefused(PermanentError):
    """A callback is not taken; ``status`` is the HTTP status it is answered with, and the sender is told no more."""

    status = 400


class CallbackForged(CallbackRefused):
    """A callback is not from the platform, not for this app, or not from now; the message says which, for us only."""

    status = 403


class CallbackMalformed(CallbackRefused):
    """A callback cannot be read: no XML as it should be, or nothing that our key decrypts."""


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


class MediaExpired(MediaRefused):
    """WeCom does not know a file by its id any more; ids are good for three days, for one corp and kind."""


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
