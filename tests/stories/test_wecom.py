"""Members of a company write to an app and read its answers: real callbacks, real processes, a simulated WeCom."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.stories.called import Called
from tests.support.system import wait_until
from tests.support.together import together
from tests.support.wecom_app import App
from tests.support.wecom_world import WecomWorld
from tests.web.calling import call
from tests.web.conftest import WebProcess
from wechat_bridge.flow.wecom.app import app_of
from wechat_bridge.model.channel import QueueMode
from wechat_bridge.model.turn import TurnState

pytestmark = [pytest.mark.story, pytest.mark.slow]

ADDRESS = "192.0.2.7"
WORKERS = (("reply", "reply"), ("reply", "reply2"), ("ops", "ops"), ("beat", "beat"))


class Company(Called):
    """Members, and an app for each test; two workers reply."""

    def app(self) -> WecomWorld:
        """Make an app whose callbacks come here."""
        return self.reached(WecomWorld.of_app(self.system.wired, self.control))

    def alerts(self, event: str, world: WecomWorld) -> int:
        """How often any process said so about a channel."""
        logs = [self.system.log_of(name) for name in self.system.processes]
        return sum(bool(re.search(rf"{event}.*{world.share_id}\b", line)) for log in logs for line in log.splitlines())


@pytest.fixture(scope="module")
def company(urls: tuple[str, str], repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Company]:
    """A company of this module."""
    web = WebProcess(repository, tmp_path_factory.mktemp("company"), urls, WECHAT_BRIDGE_DEBOUNCE__IDLE_SECONDS="0")
    with Company.running(urls, web, WORKERS, threads=30) as running:
        yield running


def say(world: WecomWorld, name: str, *texts: str) -> None:
    world.control.say(world.bot_id, world.user(name), *texts)


def test_what_members_write_is_answered_once_and_in_order(company: Company) -> None:
    world = company.app()
    said = {f"user{number}": [f"{number} {text}" for text in "abc"] for number in range(20)}
    for name, texts in said.items():
        say(world, name, *texts)
    company.system.assert_answered(world, said, 40)


def test_what_is_longer_than_wecom_shows_comes_whole(company: Company) -> None:
    """Field report 14: the answers are merged, and cut again where 2,048 bytes are full."""
    world = company.app()
    texts = [f"{number}" + "企业微信" * 150 for number in range(4)]
    say(world, "ann", *texts)
    company.system.assert_answered(world, {"ann": texts}, 20)


def test_field_report_6_a_callback_that_is_repeated_is_answered_at_once_each_time_and_replied_to_once(
    company: Company, urls: tuple[str, str], repository: Path, tmp_path: Path
) -> None:
    """Three times, 5 s apart, while an engine thinks for 6 s; then three times in one moment at two processes."""
    world = company.app()
    world.bridge.channels.configure(world.share_id, {"engine": "slow"})
    message = {"MsgType": "text", "Content": "6 slowly", "MsgId": 9001}
    [sent] = company.control.write(world.bot_id, world.user(), [message])
    for delay_seconds in (5.0, 10.0):
        company.control.repeat(sent["callback_id"], delay_seconds=delay_seconds)
    rows = company.control.callbacks(world.bot_id, count=3, timeout_seconds=20.0)
    attempts = [attempt for row in rows for attempt in row["attempts"]]
    assert [(attempt["status"], attempt["seconds"] < 1) for attempt in attempts] == [(200, True)] * 3
    assert len({attempt["nonce"] for attempt in attempts}) == 3

    app = App(world.bridge, world.share_id, app_of(world.bridge, world.channel)[1])
    again = app.text("0 quickly", world.user(), MsgId=9002)
    with WebProcess(repository, tmp_path, urls) as second:
        answers = together(3, lambda number: call((company.web, second)[number % 2], app, again))
    assert [(answer.status_code, answer.elapsed.total_seconds() < 1) for answer in answers] == [(200, True)] * 3
    company.system.assert_answered(world, {"ann": ["slowly", "quickly"]}, 20)
    assert app.texts() == ["6 slowly", "0 quickly"]
    assert [text for text in company.system.engine_calls() if text.endswith("ly")] == ["slowly", "quickly"]


def test_a_killed_reply_worker_costs_nobody_an_answer(company: Company) -> None:
    world = company.app()
    world.bridge.channels.configure(world.share_id, {"engine": "slow"})
    said = {f"user{number}": ["hello"] for number in range(6)}
    for name in said:
        say(world, name, "2 hello")
    wait_until(lambda: len(company.system.engine_calls()) >= 6, 20, "the engine is asked")
    company.system.kill("reply")
    company.system.start("reply", "reply", threads=30)
    company.system.assert_answered(world, said, 60)


def test_twenty_sends_of_two_processes_with_an_expired_token_refresh_it_once(company: Company) -> None:
    """Field report 15."""
    world = company.app()
    say(world, "ann", "first")
    company.system.assert_answered(world, {"ann": ["first"]}, 20)
    before = len(company.control.calls("gettoken", world.bot_id))
    assert company.control.expire_token(world.bot_id, 42001)
    said = {f"user{number}": ["hello"] for number in range(20)}
    for name in said:
        say(world, name, "hello")
    company.system.assert_answered(world, said, 30)
    assert len(company.control.calls("gettoken", world.bot_id)) == before + 1


def test_an_address_that_is_not_trusted_for_a_while_costs_no_answer_and_one_alert(company: Company) -> None:
    """Field report 43."""
    world, names = company.app(), [f"user{number}" for number in range(30)]
    company.control.set_options(source_ip=ADDRESS)
    company.control.set_app(world.bot_id, trusted_ips=["198.51.100.1"])
    for name in names:
        say(world, name, f"from {name}")
    parked = {"share_id": world.share_id, "state": TurnState.PARKED.value}
    turns = world.bridge.turns.collection
    wait_until(lambda: turns.count_documents(parked) == len(names), 40, "every answer waits")
    company.control.set_app(world.bot_id, trusted_ips=[ADDRESS])
    past = world.bridge.clock.now() - timedelta(seconds=1)
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$set": {"hold.probe_at": past}})
    company.system.assert_answered(world, {name: [f"from {name}"] for name in names}, 40)
    assert [company.alerts(event, world) for event in ("alert_raised", "alert_cleared")] == [1, 1]
    wait_until(lambda: world.channel.hold is None, 20, "the hold is forgotten")


@pytest.mark.long
def test_forty_answers_to_one_person_within_a_minute_are_all_seen(company: Company) -> None:
    """WeCom shows 30 a minute and discards the rest without a word."""
    world = company.app()
    world.bridge.channels.configure(world.share_id, {"queue_mode": QueueMode.FOLLOWUP.value})
    texts = [f"question {number}" for number in range(40)]
    say(world, "ann", *texts)
    company.system.assert_answered(world, {"ann": texts}, 180)
