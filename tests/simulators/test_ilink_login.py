from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
import requests

from wechat_bridge.simulators.ilink import IlinkControl

from .conftest import USER, BotClient, Json


class Person:
    """A client in the middle of a QR login."""

    def __init__(self, control: IlinkControl) -> None:
        self.control = control
        self.threads = ThreadPoolExecutor(4)

    def qrcode(self, **body: object) -> str:
        answer = self.ask("POST", "get_bot_qrcode?bot_type=3", body)
        assert self.control.wait_for_qrcode(after=len(self.control.qrcodes()) - 1) == answer["qrcode"]
        return str(answer["qrcode"])

    def status(self, qrcode: str, verify_code: str = "") -> Json:
        code = f"&verify_code={verify_code}" if verify_code else ""
        return self.ask("GET", f"get_qrcode_status?qrcode={qrcode}{code}")

    def waiting_status(self, qrcode: str) -> Future[Json]:
        return self.threads.submit(self.status, qrcode)

    def ask(self, method: str, path: str, body: object = None) -> Json:
        url = f"{self.control.base_url}/ilink/bot/{path}"
        answer: Json = requests.request(method, url, json=body, timeout=10).json()
        return answer


@pytest.fixture
def person(control: IlinkControl) -> Iterator[Person]:
    someone = Person(control)
    yield someone
    someone.threads.shutdown()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_qr_code_is_given_out_by_get_and_by_post(person: Person, method: str) -> None:
    answer = person.ask(method, "get_bot_qrcode?bot_type=3")
    assert answer["ret"] == 0
    assert answer["qrcode_img_content"].startswith("https://liteapp.weixin.qq.com/q/")
    assert answer["qrcode"] in answer["qrcode_img_content"]


def test_another_bot_type_is_refused_with_2(person: Person) -> None:
    assert person.ask("POST", "get_bot_qrcode?bot_type=4", {})["ret"] == 2


def test_a_whole_login_goes_wait_scaned_confirmed_and_the_token_works(person: Person) -> None:
    person.control.set_options(qr_hold_seconds=0.2, hold_seconds=0)
    qrcode = person.qrcode()
    assert person.status(qrcode) == {"ret": 0, "status": "wait"}
    person.control.scan(qrcode)
    assert person.status(qrcode) == {"ret": 0, "status": "scaned"}
    person.control.confirm(qrcode, USER)
    confirmed = person.status(qrcode)
    assert (confirmed["status"], confirmed["ilink_user_id"]) == ("confirmed", USER)
    assert confirmed["baseurl"] == person.control.base_url
    client = BotClient(person.control, confirmed["ilink_bot_id"], confirmed["bot_token"])
    assert client.poll()["ret"] == 0


def test_a_status_poll_is_held_and_wakes_at_the_scan(person: Person) -> None:
    qrcode = person.qrcode()
    waiting = person.waiting_status(qrcode)
    started = time.monotonic()
    person.control.scan(qrcode)
    assert waiting.result(4)["status"] == "scaned"
    assert time.monotonic() - started < 3


def test_a_status_that_changes_after_its_client_has_left_is_told_to_the_next_one(person: Person) -> None:
    qrcode = person.qrcode()
    with pytest.raises(requests.ReadTimeout):
        requests.get(f"{person.control.base_url}/ilink/bot/get_qrcode_status?qrcode={qrcode}", timeout=0.2)
    waiting = person.waiting_status(qrcode)
    person.control.scan(qrcode)
    assert waiting.result(4)["status"] == "scaned"


def test_the_verify_code_must_match_and_a_wrong_one_is_asked_for_again(person: Person) -> None:
    qrcode = person.qrcode()
    person.control.scan(qrcode, verify_code="4711")
    assert person.status(qrcode)["status"] == "need_verifycode"
    assert person.status(qrcode, "1")["status"] == "need_verifycode"
    assert person.status(qrcode, "4711")["status"] == "scaned"
    person.control.confirm(qrcode, USER)
    assert person.status(qrcode, "4711")["status"] == "confirmed"


def test_too_many_wrong_verify_codes_block_the_qr_code(person: Person) -> None:
    qrcode = person.qrcode()
    person.control.scan(qrcode, verify_code="4711")
    assert [person.status(qrcode, "0")["status"] for _ in range(3)] == ["need_verifycode"] * 2 + ["verify_code_blocked"]


def test_a_qr_code_expires_and_an_unknown_one_counts_as_expired(person: Person) -> None:
    qrcode = person.qrcode()
    person.control.advance_clock(121)
    assert person.status(qrcode)["status"] == "expired"
    assert person.status("never-given-out")["status"] == "expired"


def test_a_held_status_poll_ends_when_the_code_expires(person: Person) -> None:
    person.control.set_options(qr_lifetime_seconds=60)
    waiting = person.waiting_status(person.qrcode())
    person.control.advance_clock(61)
    assert waiting.result(2)["status"] == "expired"


def test_any_sequence_of_statuses_can_be_shown_unknown_ones_included(person: Person) -> None:
    qrcode = person.qrcode()
    redirect = {"status": "scaned_but_redirect", "redirect_host": "idc2.example.test"}
    person.control.show_statuses(
        qrcode, {"status": "scaned"}, redirect, {"status": "unheard_of"}, {"status": "expired"}
    )
    told = [person.status(qrcode) for _ in range(4)]
    assert told == [
        {"ret": 0, "status": "scaned"},
        {"ret": 0, **redirect},
        {"ret": 0, "status": "unheard_of"},
        {"ret": 0, "status": "expired"},
    ]


def test_a_confirmed_status_can_be_falsified(person: Person) -> None:
    qrcode = person.qrcode()
    person.control.confirm(qrcode, USER, fields={"baseurl": ""}, omit=["ilink_bot_id"])
    told = person.status(qrcode)
    assert (told["status"], told["baseurl"]) == ("confirmed", "")
    assert "ilink_bot_id" not in told


def test_a_second_login_of_the_same_wechat_user_makes_a_new_bot_and_ends_the_old_token(person: Person) -> None:
    first, second = person.qrcode(), person.qrcode()
    old = person.control.confirm(first, USER)
    client = BotClient(person.control, old["ilink_bot_id"], old["bot_token"])
    polling = client.open_poll()
    new = person.control.confirm(second, USER)
    assert polling.result(2) == {"errcode": -14, "errmsg": "session timeout"}
    client.close()
    assert new["ilink_bot_id"] != old["ilink_bot_id"]
    assert [bot["bot_id"] for bot in person.control.bots()] == [new["ilink_bot_id"]]


def test_a_second_login_may_keep_the_bot_id_but_not_the_token_nor_the_cursor(person: Person) -> None:
    person.control.set_options(hold_seconds=0)
    old = person.control.confirm(person.qrcode(), USER)
    client = BotClient(person.control, old["ilink_bot_id"], old["bot_token"])
    cursor = client.poll()["get_updates_buf"]
    new = person.control.confirm(person.qrcode(), USER, bot_id=old["ilink_bot_id"])
    assert new["bot_token"] != old["bot_token"]
    assert client.poll()["errcode"] == -14
    client.token = new["bot_token"]
    assert client.poll(cursor)["ret"] == 0
    assert person.control.stats(new["ilink_bot_id"])["foreign_cursors"] == 1


def test_rebinding_leaves_the_old_token_alone_when_the_switch_is_off(person: Person) -> None:
    person.control.set_options(rebind_invalidates=False, hold_seconds=0)
    old = person.control.confirm(person.qrcode(), USER)
    person.control.confirm(person.qrcode(), USER)
    assert BotClient(person.control, old["ilink_bot_id"], old["bot_token"]).poll()["ret"] == 0


def test_a_login_that_names_a_live_token_of_the_same_user_is_answered_binded_redirect(person: Person) -> None:
    token = person.control.create_bot(user_id=USER)["token"]
    qrcode = person.qrcode(local_token_list=[token])
    person.control.confirm(qrcode, USER)
    assert person.status(qrcode) == {"ret": 0, "status": "binded_redirect"}
    person.control.set_options(binded_redirect=False)
    qrcode = person.qrcode(local_token_list=[token])
    person.control.confirm(qrcode, USER)
    assert person.status(qrcode)["status"] == "confirmed"


@pytest.mark.parametrize("who", ["new", USER])
def test_auto_confirm_logs_in_without_anyone_at_the_phone(person: Person, who: str) -> None:
    person.control.set_options(auto_confirm=who)
    told = person.status(person.qrcode())
    assert told["status"] == "confirmed"
    assert told["ilink_user_id"].endswith("@im.wechat")
    assert who in {"new", told["ilink_user_id"]}


def test_the_qr_codes_are_listed_with_what_became_of_them(person: Person) -> None:
    qrcode = person.qrcode(local_token_list=["a", "b"])
    person.control.scan(qrcode, verify_code="4711")
    person.status(qrcode, "1")
    assert person.control.qrcodes() == [
        {"qrcode": qrcode, "status": "need_verifycode", "user_id": "", "local_tokens": 2, "wrong_codes": 1}
    ]
