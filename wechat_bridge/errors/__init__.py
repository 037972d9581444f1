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
        ├── WorkGivenUp          raised by the base task, so that Celery records the failure
        ├── AccessRefused        an operator's decision about who may talk that cannot be had
        ├── ConfigurationRefused  a change of the configuration that cannot be had: another came first, say
        ├── NoticeRefused        a message that nobody asked for, where WeChat allows none
        │   └── NoticeWaits      another one to the same person has to go out first
        ├── TaskFailed           what a management task answers when it cannot do what it was asked
        └── DocumentInvalid      a stored document does not fit its model

Messages say what happened, to what, and what to do. They never carry a secret.
"""

from __future__ import annotations

from wechat_bridge.errors.base import (
    BridgeError,
    IndexNotBuilt,
    LedgerTooNew,
    PermanentError,
    RefusedError,
    ServiceNotReachable,
    SettingsError,
    TransientError,
)
from wechat_bridge.errors.events import (
    DispatchRefused,
    DispatchUnavailable,
    EventRefused,
    MessageParseError,
    PayloadTooLarge,
    UnsupportedMediaType,
    ValidationError,
)
from wechat_bridge.errors.permanent import (
    AccessRefused,
    AccountTaken,
    CallbackForged,
    CallbackMalformed,
    CallbackRefused,
    ChannelBusy,
    ChannelExists,
    ChannelInvalid,
    ChannelUnknown,
    ConfigurationRefused,
    ContentRefused,
    DeadLetterUnknown,
    DocumentInvalid,
    EngineRefused,
    LoginFailed,
    MediaExpired,
    MediaRefused,
    MediaUnreadable,
    NotConfigured,
    NoticeRefused,
    NoticeWaits,
    RecipientRefused,
    ReplayRefused,
    TaskFailed,
    WorkGivenUp,
)
from wechat_bridge.errors.refused import (
    AddressNotTrusted,
    AppHeld,
    CredentialRefused,
    PermissionMissing,
    SendBudgetExhausted,
    SendRefused,
    SessionExpired,
    SessionNotOurs,
)
from wechat_bridge.errors.transient import (
    BrokerUnavailable,
    ConversationBusy,
    EngineUnavailable,
    LedgerUnavailable,
    OwnerStale,
    PlatformBusy,
    PlatformUnavailable,
    QuotaUsedUp,
)

__all__ = [
    "AccessRefused",
    "AccountTaken",
    "AddressNotTrusted",
    "AppHeld",
    "BridgeError",
    "BrokerUnavailable",
    "CallbackForged",
    "CallbackMalformed",
    "CallbackRefused",
    "ChannelBusy",
    "ChannelExists",
    "ChannelInvalid",
    "ChannelUnknown",
    "ConfigurationRefused",
    "ContentRefused",
    "ConversationBusy",
    "CredentialRefused",
    "DeadLetterUnknown",
    "DispatchRefused",
    "DispatchUnavailable",
    "DocumentInvalid",
    "EngineRefused",
    "EngineUnavailable",
    "EventRefused",
    "IndexNotBuilt",
    "LedgerTooNew",
    "LedgerUnavailable",
    "LoginFailed",
    "MediaExpired",
    "MediaRefused",
    "MediaUnreadable",
    "MessageParseError",
    "NotConfigured",
    "NoticeRefused",
    "NoticeWaits",
    "OwnerStale",
    "PayloadTooLarge",
    "PermanentError",
    "PermissionMissing",
    "PlatformBusy",
    "PlatformUnavailable",
    "QuotaUsedUp",
    "RecipientRefused",
    "RefusedError",
    "ReplayRefused",
    "SendBudgetExhausted",
    "SendRefused",
    "ServiceNotReachable",
    "SessionExpired",
    "SessionNotOurs",
    "SettingsError",
    "TaskFailed",
    "TransientError",
    "UnsupportedMediaType",
    "ValidationError",
    "WorkGivenUp",
]
