"""A QR login in progress: where it stands, what the person has to do, and what follows from WeChat's answers.

The rules are those of Tencent's client (facts, section 9): 480 s in all, three codes, a second between two questions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from wechat_bridge.model.channel import Login

MOST_CODES = 3
PAUSE_SECONDS = 1.0
"""Between two questions about one code."""

FETCH_AGAIN_SECONDS = 5.0
"""After a renewed code could not be had."""

PATIENT_EVERY = 5
"""Of so many questions in a row that were given up before WeChat answered, one waits as long as WeChat holds it. Nobody
has written down whether a change that falls between two questions is told at once or only at the end of a hold."""

WRONG_NUMBER = "that number is wrong"


class LoginPhase(StrEnum):
    """Where a QR login stands."""

    FETCH = "fetch"  # a new code is being asked for; there is none to scan
    SCAN = "scan"  # the code waits to be scanned
    CONFIRM = "confirm"  # it was scanned; the phone waits for a tap
    NUMBER = "number"  # the phone shows a number that has to be submitted
    DONE = "done"  # the channel is logged in
    FAILED = "failed"  # it ended without a login; the note says why


ENDED = frozenset({LoginPhase.DONE, LoginPhase.FAILED})

INSTRUCTIONS = {
    LoginPhase.FETCH: "a QR code is being asked for; wait a moment",
    LoginPhase.SCAN: "scan the code with WeChat on the phone",
    LoginPhase.CONFIRM: "scanned; now confirm on the phone",
    LoginPhase.NUMBER: "submit the number shown on the phone",
    LoginPhase.DONE: "logged in; the channel receives",
    LoginPhase.FAILED: "the login has failed; start a new one",
}


@dataclass(frozen=True, slots=True)
class QrCode:
    """A code. ``link`` is what the QR picture must contain, ``qrcode`` the key to ask for its status."""

    qrcode: str = field(repr=False)
    link: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class QrStatus:
    """What WeChat says of a code.

    ``status`` is iLink's own word: ``wait``, ``scaned`` (sic), ``need_verifycode``, ``verify_code_blocked``,
    ``expired``, ``scaned_but_redirect`` (ask ``redirect_host`` from now on), ``binded_redirect``, ``confirmed`` (with
    the ``login``, unless the answer does not name the account), or one that is not known yet. ``is_held``: the question
    was given up before WeChat answered.
    """

    status: str
    login: Login | None = None
    redirect_host: str = ""
    is_held: bool = False


class QrLogin(BaseModel):
    """A QR login of one channel, as it stands in Redis.

    ``step`` grows with each change, ``next_at`` is when the next step may begin, ``number`` what a person submitted and
    WeChat has not judged yet. ``api_base`` is where codes come from, ``base_url`` where the status is asked for,
    ``held`` counts the questions in a row that were given up before WeChat answered.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    share_id: str
    api_base: str
    base_url: str
    ends_at: datetime
    next_at: datetime
    step: int = 0
    phase: LoginPhase = LoginPhase.FETCH
    note: str = ""
    codes: int = 0
    qrcode: str = Field(default="", repr=False)
    link: str = Field(default="", repr=False)
    number: str = Field(default="", repr=False)
    held: int = 0

    @property
    def is_patient(self) -> bool:
        """Whether the next question waits as long as WeChat holds it. Never while a person may type a number."""
        return self.phase is not LoginPhase.NUMBER and self.held % PATIENT_EVERY == PATIENT_EVERY - 1

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.phase in ENDED

    @property
    def instruction(self) -> str:
        """What the person has to do."""
        return INSTRUCTIONS[self.phase]


@dataclass(frozen=True)
class Move:
    """What a step makes of a login, and after how many seconds the next one may begin."""

    login: QrLogin
    delay_seconds: float = PAUSE_SECONDS


def with_code(login: QrLogin, code: QrCode) -> Move:
    """A code was given out."""
    shown = {"qrcode": code.qrcode, "link": code.link, "codes": login.codes + 1, "base_url": login.api_base}
    return Move(login.model_copy(update=shown | {"phase": LoginPhase.SCAN}), 0.0)


def without_code(login: QrLogin, reason: str) -> Move:
    """No code was to be had: the end of a login that has shown none, else it is tried again."""
    if login.codes == 0:
        return failed(login, reason)
    return Move(login.model_copy(update={"note": f"no new code yet ({reason})"}), FETCH_AGAIN_SECONDS)


def unanswered(login: QrLogin, reason: str) -> Move:
    """WeChat could not be asked, or not understood: still waiting."""
    return Move(login.model_copy(update={"note": f"still waiting ({reason})"}))


def after_status(login: QrLogin, answer: QrStatus, redirect_url: str | None) -> Move:
    """What WeChat's answer makes of a login, except for a confirmed account, which has to be stored first.

    ``redirect_url`` is the address of the answer's ``redirect_host``; None when that may not be asked.
    """
    login = login.model_copy(update={"held": login.held + 1 if answer.is_held else 0})
    rule = _RULES.get(answer.status)
    if rule is not None:
        return rule(login)
    if answer.status == "scaned_but_redirect":
        return _redirected(login, answer.redirect_host, redirect_url)
    return Move(login.model_copy(update={"note": f"WeChat says {answer.status[:40]!r}; still waiting"}))


def failed(login: QrLogin, note: str) -> Move:
    """It is over without a login."""
    return Move(_ended(login, LoginPhase.FAILED, note))


def done(login: QrLogin) -> Move:
    """The account is stored."""
    return Move(_ended(login, LoginPhase.DONE, ""))


def _ended(login: QrLogin, phase: LoginPhase, note: str) -> QrLogin:
    """Forget the code as well: whoever knows its key can ask for the account."""
    return login.model_copy(update={"phase": phase, "note": note, "qrcode": "", "link": "", "number": ""})


def _wait(login: QrLogin) -> Move:
    """Say nothing new: also the answer to a question that was held to its end."""
    stays = login.phase is LoginPhase.NUMBER and login.note == WRONG_NUMBER
    return Move(login if stays else login.model_copy(update={"note": ""}))


def _scanned(login: QrLogin) -> Move:
    return Move(login.model_copy(update={"phase": LoginPhase.CONFIRM, "note": "", "number": ""}))


def _number_asked(login: QrLogin) -> Move:
    """The same status again, after a number was sent, means that it was wrong."""
    if login.number:
        return Move(login.model_copy(update={"phase": LoginPhase.NUMBER, "note": WRONG_NUMBER, "number": ""}))
    return _wait(login.model_copy(update={"phase": LoginPhase.NUMBER}))


def _expired(login: QrLogin) -> Move:
    return _renewed(login, "the code has expired")


def _blocked(login: QrLogin) -> Move:
    return _renewed(login, "too many wrong numbers")


def _renewed(login: QrLogin, why: str) -> Move:
    """The old code is hidden at once, since scanning it leads nowhere."""
    if login.codes >= MOST_CODES:
        return failed(login, f"{why}, and it was the last of {MOST_CODES} codes; start a new login")
    hidden = {"phase": LoginPhase.FETCH, "note": why, "qrcode": "", "link": "", "number": ""}
    return Move(login.model_copy(update=hidden), 0.0)


def _bound(login: QrLogin) -> Move:
    note = "this WeChat account is already connected through another channel of this bridge; log that one out first"
    return failed(login, note)


def _unnamed(login: QrLogin) -> Move:
    return failed(login, "WeChat confirmed the login without naming the bot and its token; start a new login")


def _redirected(login: QrLogin, host: str, url: str | None) -> Move:
    scanned = login.model_copy(update={"phase": LoginPhase.CONFIRM, "note": ""})
    if not host:
        return Move(scanned)
    if url is None:
        note = f"WeChat sends us to {host[:100]!r}, which is not in WECHAT_BRIDGE_LOGIN__HOSTS; not followed"
        return Move(scanned.model_copy(update={"note": note}))
    return Move(scanned.model_copy(update={"base_url": url}))


_RULES: dict[str, Callable[[QrLogin], Move]] = {
    "wait": _wait,
    "scaned": _scanned,
    "need_verifycode": _number_asked,
    "verify_code_blocked": _blocked,
    "expired": _expired,
    "binded_redirect": _bound,
    "confirmed": _unnamed,
}
