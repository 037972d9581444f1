"""The same work will fail again."""

from __future__ import annotations

from wechat_bridge.errors.base import PermanentError


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


class MediaExpired(MediaRefused):
    """WeCom does not know a file by its id any more; ids are good for three days, for one corp and kind."""


class AccessRefused(PermanentError):
    """An operator's decision about who may talk cannot be had as given; the message says why and what to do."""


class ConfigurationRefused(PermanentError):
    """A change of the configuration cannot be had as given; the message says why and what to do."""


class NoticeRefused(PermanentError):
    """A message that nobody asked for cannot be sent; the message says why and what to do."""


class NoticeWaits(NoticeRefused):
    """Another message that nobody asked for is on its way to the same person; it has to go out first."""


class WorkGivenUp(PermanentError):
    """A turn or an event was given up; it can be tried again from the dead letters."""


class TaskFailed(PermanentError):
    """A management task could not do what it was asked; the message is one line that says why."""


class DocumentInvalid(PermanentError):
    """A stored document does not fit its model; the message names collection, id and field."""
