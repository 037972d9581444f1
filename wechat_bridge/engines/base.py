"""What the flow asks of a reply engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from wechat_bridge.model.message import ItemKind


@dataclass(frozen=True)
class Attachment:
    """Something a person sent besides text. ``read`` returns its bytes: ask for them only when they are needed.

    ``mime`` is what the bytes show, ``size`` counts them, ``label`` is the sender's name for a file or "".
    ``read`` raises LedgerUnavailable (let it pass, the turn is tried again). ``link`` is where the engine may fetch the
    bytes itself, for ``media.link_seconds``; "" when the bridge has no public address. Whoever has a link can read what
    is behind it, so treat it like a secret.
    """

    kind: ItemKind
    mime: str
    size: int
    label: str
    read: Callable[[], bytes] = field(repr=False, compare=False)
    link: str = field(default="", repr=False)


@dataclass(frozen=True)
class AnswerFile:
    """A file that an engine answers with. It is shown as a picture, a film, or (anything else) a document."""

    kind: ItemKind
    label: str
    mime: str
    data: bytes = field(repr=False)


@dataclass(frozen=True)
class Round:
    """One earlier turn of a conversation: what was asked, and what was answered."""

    question: str
    answer: str


@dataclass(frozen=True)
class Question:
    """One turn as an engine sees it. ``turn_id`` is the idempotency key; ``deadline_seconds`` bounds the whole call.

    ``text`` has a marker for each of ``media``, and for what was sent but could not be read; the marker also says where
    the engine ``needs_link`` and there is none. ``history`` is for engines
    that remember nothing, oldest first. Engines that remember by a name of ours use ``chat_id`` and ``memory_id``,
    which changes when the person starts anew; those that give out a name of their own get the one of their last answer
    back as ``engine_conversation``.
    """

    turn_id: str
    share_id: str
    chat_id: str
    user_id: str
    text: str
    deadline_seconds: float
    media: tuple[Attachment, ...] = ()
    history: tuple[Round, ...] = ()
    memory_id: str = ""
    engine_conversation: str = ""


@dataclass(frozen=True)
class Answer:
    """What an engine answered: a text, then ``files``, each a message of its own. Neither means to send nothing.

    ``engine_conversation`` is the engine's own name for the conversation, where it gives out one.
    """

    text: str
    model: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish_reason: str = ""
    files: tuple[AnswerFile, ...] = ()
    engine_conversation: str = ""


class Engine(Protocol):
    """Something that answers questions.

    One that has ``needs_memory = False`` is told nothing of earlier turns, which spares the ledger two reads.
    """

    name: str

    def answer(self, question: Question) -> Answer:
        """Return the whole answer. Raises EngineUnavailable (may pass) and EngineRefused (will not)."""
        ...


@runtime_checkable
class ReadsLinks(Protocol):
    """An engine that takes some media by a link only."""

    def needs_link(self, media: Attachment) -> bool:
        """Whether this one is read by its link or not at all; without a link the question says that it is missing."""
        ...
