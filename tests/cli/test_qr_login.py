"""Every way a QR login can go, against the simulated WeChat; the clock is the test's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from wechat_bridge.channels.http import HttpClient
from wechat_bridge.cli.qr_login import LoginNotConfirmed, QrLogin
from wechat_bridge.errors import AccountTaken
from wechat_bridge.simulators.ilink import IlinkControl, IlinkOptions, IlinkSimulator


@pytest.fixture(scope="module")
def wechat() -> Iterator[IlinkSimulator]:
    """A simulated WeChat that does not hold status requests."""
    with IlinkSimulator(IlinkOptions(qr_hold_seconds=0.0)) as running:
        yield running


@dataclass
class Person:
    """Reads the screen, plays the phone, and is the clock."""

    control: IlinkControl
    statuses: list[list[dict[str, Any]]]
    codes: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    now: float = 0.0

    def show_code(self, link: str) -> None:
        self.links.append(link)
        code = self.control.qrcodes()[-1]["qrcode"]
        self.codes.append(code)
        if len(self.codes) <= len(self.statuses):
            self.control.show_statuses(code, *self.statuses[len(self.codes) - 1])

    def say(self, line: str) -> None:
        self.said.append(line)

    def ask_number(self) -> str:
        return self.numbers.pop(0)

    def clock(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def http() -> Iterator[HttpClient]:
    client = HttpClient(pool_maxsize=2)
    yield client
    client.close()


def login_of(person: Person, http: HttpClient, wechat: IlinkSimulator, tokens: tuple[str, ...] = ()) -> QrLogin:
    return QrLogin(http, person, wechat.base_url, tokens, now=person.clock, pause=person.pause)


def confirmed(**fields: str) -> dict[str, Any]:
    values = {"bot_token": "t", "ilink_bot_id": "b@im.bot", "ilink_user_id": "u@im.wechat"}
    return {"status": "confirmed", **values, **fields}


def test_the_link_is_drawn_and_not_the_key_of_the_status(wechat: IlinkSimulator, http: HttpClient) -> None:
    person = Person(wechat.control, [[confirmed()]])
    login_of(person, http, wechat).run()
    assert person.links[0].startswith("https://")
    assert person.links[0] != person.codes[0]


def test_wait_scanned_confirmed_with_a_second_between_questions(wechat: IlinkSimulator, http: HttpClient) -> None:
    statuses = [{"status": "wait"}, {"status": "wait"}, {"status": "scaned"}, {"status": "scaned"}, confirmed()]
    person = Person(wechat.control, [statuses])
    login = login_of(person, http, wechat).run()
    assert (login.account.account_id, login.account.token, login.owner_user_id) == ("b@im.bot", "t", "u@im.wechat")
    assert login.account.base_url == wechat.base_url
    assert person.said == ["scan this code with WeChat on the phone", "scanned; now confirm on the phone"]
    assert person.now == 4.0


def test_an_expired_code_is_replaced(wechat: IlinkSimulator, http: HttpClient) -> None:
    person = Person(wechat.control, [[{"status": "expired"}], [confirmed()]])
    login_of(person, http, wechat).run()
    assert len(set(person.codes)) == 2
    assert "the code has expired" in person.said


def test_three_expired_codes_are_the_end(wechat: IlinkSimulator, http: HttpClient) -> None:
    person = Person(wechat.control, [[{"status": "expired"}]] * 5)
    with pytest.raises(LoginNotConfirmed, match="3 QR codes expired"):
        login_of(person, http, wechat).run()
    assert len(person.codes) == 3


def test_too_many_wrong_numbers_count_as_a_used_code(wechat: IlinkSimulator, http: HttpClient) -> None:
    person = Person(wechat.control, [[{"status": "verify_code_blocked"}], [confirmed()]])
    login_of(person, http, wechat).run()
    assert len(person.codes) == 2
    assert "too many wrong numbers" in person.said


class PersonWithNumber(Person):
    """Sees the number 2 on the phone, and confirms once it was typed."""

    def show_code(self, link: str) -> None:
        super().show_code(link)
        self.control.scan(self.codes[-1], verify_code="2")

    def say(self, line: str) -> None:
        super().say(line)
        if line.startswith("scanned"):
            self.control.confirm(self.codes[-1], "numbered@im.wechat")


def test_a_wrong_number_is_asked_for_again_without_waiting(wechat: IlinkSimulator, http: HttpClient) -> None:
    person = PersonWithNumber(wechat.control, [], numbers=["1", "2"])
    login = login_of(person, http, wechat).run()
    assert person.said[1:3] == ["WeChat asks for the number shown on the phone", "that number is wrong"]
    assert (login.owner_user_id, person.numbers, person.now) == ("numbered@im.wechat", [], 1.0)


def test_eight_minutes_are_the_end(wechat: IlinkSimulator, http: HttpClient) -> None:
    person = Person(wechat.control, [[{"status": "wait"}]])
    with pytest.raises(LoginNotConfirmed, match="within 8 minutes"):
        login_of(person, http, wechat).run()
    assert person.now == 480.0


def test_an_unknown_status_is_shown_and_waited_through(wechat: IlinkSimulator, http: HttpClient) -> None:
    odd = {"status": "moon_phase"}
    person = Person(wechat.control, [[odd, odd, confirmed()]])
    login_of(person, http, wechat).run()
    assert person.said.count("WeChat says moon_phase") == 1


def test_a_network_error_is_waiting(wechat: IlinkSimulator, http: HttpClient) -> None:
    person = Person(wechat.control, [[confirmed()]])
    wechat.control.script("get_qrcode_status", status=502)
    login_of(person, http, wechat).run()
    assert any(line.startswith("still waiting (") for line in person.said)


def test_a_redirect_is_followed_over_https(wechat: IlinkSimulator, http: HttpClient) -> None:
    host = wechat.base_url.removeprefix("http://")
    person = Person(wechat.control, [[{"status": "scaned_but_redirect", "redirect_host": host}, confirmed()]])
    with pytest.raises(LoginNotConfirmed):
        # The simulated WeChat speaks no TLS: that it is never reached again shows that https was used.
        login_of(person, http, wechat).run()
    assert any(line.startswith("still waiting (") for line in person.said)


def test_an_account_that_is_already_here_is_not_taken_twice(wechat: IlinkSimulator, http: HttpClient) -> None:
    person = Person(wechat.control, [[{"status": "binded_redirect"}]])
    with pytest.raises(AccountTaken, match="already connected through another channel"):
        login_of(person, http, wechat).run()


def test_the_tokens_of_other_channels_are_told(wechat: IlinkSimulator, http: HttpClient) -> None:
    person = Person(wechat.control, [[confirmed()]])
    login_of(person, http, wechat, ("one", "two")).run()
    assert wechat.control.qrcodes()[-1]["local_tokens"] == 2
