"""What the flow asks of a platform."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from wechat_bridge.errors import PlatformUnavailable
from wechat_bridge.model.channel import Account
from wechat_bridge.model.message import InboundMessage, ItemKind


class PollCut(PlatformUnavailable):
    """This process ended its own poll because it stops; the platform did not fail, and no failure is counted."""


@dataclass(frozen=True)
class PollAnswer:
    """What one poll brought.

    ``cursor`` is None where the answer carried none (or an empty one): the old one stays. ``hold_hint_seconds`` is how
    long the platform says it will hold the next poll. ``suspect`` marks an answer without error, messages list and
    cursor, as seen when a login has died silently (field report 19).
    """

    messages: tuple[InboundMessage, ...] = ()
    cursor: str | None = None
    hold_hint_seconds: float | None = None
    suspect: bool = False


class SendingDoor(Protocol):
    """A platform on which people can be written to."""

    def send_text(self, account: Account, user_id: str, text: str, client_id: str, context_token: str) -> str | None:
        """Send one text; return the platform's id for it, or None where the answer carried none.

        Raises RefusedError (SendRefused, SessionExpired, AppHeld), RecipientRefused, ContentRefused, PlatformBusy and
        PlatformUnavailable (outcome unknown: send it again with the same ``client_id``).
        """
        ...

    def set_typing(self, account: Account, user_id: str, *, is_typing: bool) -> None:
        """Show a person that an answer is being worked on, or no longer; it fades by itself if not shown again.

        Raises PlatformUnavailable and SessionExpired; no answer depends on it.
        """
        ...


@runtime_checkable
class Polls(Protocol):
    """What a platform whose messages are read by long polling has besides."""

    def poll(self, account: Account, cursor: str, hold_hint_seconds: float | None) -> PollAnswer:
        """Wait for messages after ``cursor``. A read timeout is an empty answer.

        Raises PlatformUnavailable (transport, HTTP, bad JSON, API codes), SessionExpired, and PollCut when this process
        itself ended the poll.
        """
        ...


class PollingDoor(SendingDoor, Polls, Protocol):
    """A platform whose messages are read by long polling, and on which people can be written to."""


@dataclass(frozen=True, slots=True)
class OutboundFile:
    """A file to be sent. ``label`` is the name people see, ``mime`` its type; a sound is sent as a document."""

    kind: ItemKind
    label: str
    mime: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Uploaded:
    """What a platform has of a file: the ``item`` with which a message refers to it. It holds a key; never store it."""

    item: Mapping[str, Any] = field(repr=False)


class MediaDoor(Protocol):
    """A platform whose messages bring, and take, more than text."""

    def fetch(
        self, account: Account, raw: str, position: int, sink: Callable[[bytes], object], total_seconds: float
    ) -> None:
        """Fetch part ``position`` (from 0, as parsed) of the message whose text is ``raw``; ``sink`` gets the plain
        bytes in order, which count only when this returns.

        Raises MediaUnreadable (for good) and PlatformUnavailable (another try may help), and what ``sink`` raises.
        """
        ...

    def upload(self, account: Account, user_id: str, file: OutboundFile, total_seconds: float) -> Uploaded:
        """Hand a file to the platform without showing it to anybody yet.

        Raises MediaRefused, SendRefused, SessionExpired, PlatformBusy and PlatformUnavailable.
        """
        ...

    def send(
        self, account: Account, user_id: str, uploaded: Uploaded, client_id: str, context_token: str
    ) -> str | None:
        """Show an uploaded file to a person; like ``SendingDoor.send_text``."""
        ...
