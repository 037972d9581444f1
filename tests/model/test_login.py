"""What each answer of WeChat makes of a QR login."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from wechat_bridge.model.login import (
    FETCH_AGAIN_SECONDS,
    WRONG_NUMBER,
    LoginPhase,
    QrCode,
    QrLogin,
    QrStatus,
    after_status,
    done,
    failed,
    unanswered,
    with_code,
    without_code,
)

NOW = datetime(2026, 11, 30, tzinfo=UTC)
BASE = "https://ilinkai.weixin.qq.com"


def login(phase: LoginPhase = LoginPhase.SCAN, **fields: Any) -> QrLogin:
    values: dict[str, Any] = {"qrcode": "key", "link": "https://q/key", "codes": 1, **fields}
    return QrLogin(
        id="l", share_id="shop", api_base=BASE, base_url=values.pop("base_url", BASE), phase=phase,
        ends_at=NOW + timedelta(minutes=8), next_at=NOW, **values,
    )  # fmt: skip


FETCH, SCAN, CONFIRM, NUMBER, FAILED = (
    LoginPhase.FETCH, LoginPhase.SCAN, LoginPhase.CONFIRM, LoginPhase.NUMBER, LoginPhase.FAILED,
)  # fmt: skip

TABLE = [
    # status, phase before, phase after, seconds to the next question
    ("wait", SCAN, SCAN, 1.0),
    ("wait", CONFIRM, CONFIRM, 1.0),
    ("wait", NUMBER, NUMBER, 1.0),
    ("scaned", SCAN, CONFIRM, 1.0),
    ("scaned", CONFIRM, CONFIRM, 1.0),
    ("scaned", NUMBER, CONFIRM, 1.0),
    ("need_verifycode", SCAN, NUMBER, 1.0),
    ("need_verifycode", CONFIRM, NUMBER, 1.0),
    ("need_verifycode", NUMBER, NUMBER, 1.0),
    ("verify_code_blocked", NUMBER, FETCH, 0.0),
    ("expired", SCAN, FETCH, 0.0),
    ("expired", CONFIRM, FETCH, 0.0),
    ("expired", NUMBER, FETCH, 0.0),
    ("scaned_but_redirect", SCAN, CONFIRM, 1.0),
    ("binded_redirect", SCAN, FAILED, 1.0),
    ("binded_redirect", CONFIRM, FAILED, 1.0),
    ("confirmed", CONFIRM, FAILED, 1.0),  # without an account
    ("moon_phase", SCAN, SCAN, 1.0),
    ("moon_phase", NUMBER, NUMBER, 1.0),
]


@pytest.mark.parametrize(("status", "before", "after", "delay_seconds"), TABLE)
def test_a_status_leads_to_its_phase(status: str, before: LoginPhase, after: LoginPhase, delay_seconds: float) -> None:
    move = after_status(login(before), QrStatus(status), None)
    assert (move.login.phase, move.delay_seconds) == (after, delay_seconds)


@pytest.mark.parametrize("status", ["expired", "verify_code_blocked"])
def test_a_code_that_leads_nowhere_is_hidden_at_once_and_the_third_is_the_last(status: str) -> None:
    before = login(number="4711")
    renewed = after_status(before, QrStatus(status), None).login
    assert (renewed.link, renewed.qrcode, renewed.number, renewed.has_ended) == ("", "", "", False)
    second = with_code(renewed, QrCode("key2", "https://q/key2")).login
    assert (second.phase, second.link, second.codes) == (SCAN, "https://q/key2", 2)
    last = after_status(login(codes=3), QrStatus(status), None).login
    assert last.has_ended
    assert "the last of 3 codes; start a new login" in last.note


def test_a_wrong_number_is_said_until_another_one_is_judged_and_a_right_one_is_forgotten() -> None:
    wrong = after_status(login(NUMBER, number="1"), QrStatus("need_verifycode"), None).login
    assert (wrong.note, wrong.number) == (WRONG_NUMBER, "")
    assert after_status(wrong, QrStatus("wait"), None).login.note == WRONG_NUMBER
    assert after_status(wrong, QrStatus("need_verifycode"), None).login.note == WRONG_NUMBER
    right = after_status(wrong.model_copy(update={"number": "2"}), QrStatus("scaned"), None).login
    assert (right.phase, right.note, right.number) == (CONFIRM, "", "")


def test_a_number_that_was_not_judged_is_asked_again() -> None:
    assert unanswered(login(NUMBER, number="2"), "HTTP 524").login.number == "2"
    assert after_status(login(NUMBER, number="2"), QrStatus("wait"), None).login.number == "2"


def test_a_redirect_is_followed_where_it_may_lead_and_explained_where_not() -> None:
    url = "https://idc2.weixin.qq.com"
    assert after_status(login(), QrStatus("scaned_but_redirect", None, "idc2"), url).login.base_url == url
    missing = after_status(login(), QrStatus("scaned_but_redirect"), None).login
    assert (missing.base_url, missing.note) == (BASE, "")
    refused = after_status(login(), QrStatus("scaned_but_redirect", None, "evil.test/.."), None).login
    assert refused.base_url == BASE
    assert "'evil.test/..', which is not in WECHAT_BRIDGE_LOGIN__HOSTS" in refused.note


def test_a_new_code_is_asked_about_where_codes_come_from() -> None:
    redirected = login(FETCH, base_url="https://idc2.weixin.qq.com")
    assert with_code(redirected, QrCode("key", "link")).login.base_url == BASE


def test_an_unknown_status_is_shown_and_waited_through() -> None:
    assert after_status(login(), QrStatus("moon_phase"), None).login.note == "WeChat says 'moon_phase'; still waiting"


def test_what_is_not_answered_changes_nothing_but_the_note_and_an_answer_clears_it() -> None:
    before = login(CONFIRM)
    silent = unanswered(before, "HTTP 524").login
    assert silent == before.model_copy(update={"note": "still waiting (HTTP 524)"})
    assert after_status(silent, QrStatus("wait"), None).login == before


def test_after_four_questions_that_were_given_up_one_waits_for_its_answer_unless_a_number_may_be_typed() -> None:
    current, patient = login(), []
    for _ in range(10):
        patient.append(current.is_patient)
        current = after_status(current, QrStatus("wait", is_held=True), None).login
    assert patient == [False] * 4 + [True] + [False] * 4 + [True]
    assert not login(NUMBER, held=4).is_patient
    assert after_status(login(held=4), QrStatus("wait"), None).login.held == 0


def test_a_login_that_never_had_a_code_ends_and_one_that_had_tries_again() -> None:
    assert without_code(login(FETCH, codes=0), "no route").login.phase is FAILED
    again = without_code(login(FETCH, codes=1), "no route")
    assert (again.login.phase, again.delay_seconds) == (FETCH, FETCH_AGAIN_SECONDS)


@pytest.mark.parametrize("ended", [done(login(number="1")).login, failed(login(number="1"), "why").login])
def test_a_login_that_has_ended_keeps_no_key_of_its_code(ended: QrLogin) -> None:
    assert (ended.has_ended, ended.qrcode, ended.link, ended.number) == (True, "", "", "")


def test_nothing_with_which_the_account_could_be_asked_for_shows_in_a_repr() -> None:
    shown = repr(login(qrcode="secret-key", link="https://secret", number="4711")) + repr(QrCode("secret", "secret"))
    assert "secret" not in shown
    assert "4711" not in shown


@pytest.mark.parametrize("phase", list(LoginPhase))
def test_every_phase_says_what_to_do(phase: LoginPhase) -> None:
    assert login(phase).instruction
