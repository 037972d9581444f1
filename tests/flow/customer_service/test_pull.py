"""A customer service account is read page by page, by one at a time, and what is said there is answered once."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.flow.customer_service.fixtures import answered, own, service
from tests.support.customer_world import CustomerWorld
from tests.support.together import together
from tests.support.variations import failing, process, using
from wechat_bridge.errors import LedgerUnavailable, OwnerStale
from wechat_bridge.flow.customer_service import pull as customer_service
from wechat_bridge.flow.customer_service.bell import ring_due
from wechat_bridge.simulators.wecom import WecomControl
from wechat_bridge.wiring import Wired

__all__ = ["service"]

DONE = ("done", "")


def test_what_a_customer_says_is_answered(service: CustomerWorld) -> None:
    answered(service, "你好 😀")
    assert service.delivered() == ["你好 😀"]
    assert service.said() == [("你好 😀", *DONE)]
    assert service.shown()[0]["source"] == "kf"


def test_the_next_pull_goes_on_where_the_last_one_ended(service: CustomerWorld) -> None:
    answered(service, "one")
    answered(service, "two")
    assert service.delivered() == ["one", "two"]
    first, second = [call["body"] for call in service.pulls()]
    assert '"cursor"' not in first
    assert service.service.cursor
    assert '"cursor"' in second


def test_pages_are_read_to_the_end_empty_ones_too(service: CustomerWorld, wecom: WecomControl) -> None:
    wecom.set_options(kf_page_size=2, kf_empty_pages=2, kf_pulls_without_token=100)
    service.say("a", "b", "c", "d", "e")
    service.pull()
    assert [text for text, *_ in service.said()] == ["a", "b", "c", "d", "e"]
    assert not service.is_due
    assert len(service.pulls()) >= 9


def test_a_pull_of_very_many_pages_makes_way_for_others_and_goes_on(
    service: CustomerWorld, wecom: WecomControl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(customer_service, "MOST_PAGES", 3)
    texts = [f"{number}" for number in range(5)]
    wecom.set_options(kf_page_size=1, kf_pulls_without_token=1_000)
    service.say(*texts)
    service.pull()
    assert len(service.rows()) == 3
    assert service.is_due
    service.pull()
    assert [text for text, *_ in service.said()] == texts
    assert not service.is_due


def test_of_two_pulls_at_once_one_works(service: CustomerWorld) -> None:
    service.say("once")
    together(4, lambda _: service.pull())
    assert len(service.pulls()) <= 2  # another one may have begun when the first had ended
    service.settle()
    assert service.delivered() == ["once"]


def test_a_pull_whose_lock_was_lost_while_another_pulled_does_not_move_the_cursor_back(service: CustomerWorld) -> None:
    service.say("once")
    real, other, cursors = service.bridge.customer_service, own(process(service, "other")), []

    class Slow:
        """A door so slow that the lock is lost and another process pulls meanwhile."""

        def pull(self, *args: Any) -> Any:
            page = real.pull(*args)
            service.say("later")
            service.bridge.locks.revoke(service.share_id)
            other.pull()
            cursors.append(service.service.cursor)
            return page

    own(using(service, customer_service=Slow())).pull()
    assert cursors == [service.service.cursor]
    service.settle()
    assert service.delivered() == ["once\nlater"]


def test_killed_between_the_rows_and_the_cursor_everything_comes_again_and_is_answered_once(
    service: CustomerWorld,
) -> None:
    service.say("one", "two")
    broken = own(failing(service, "services", "move", LedgerUnavailable("away")))
    with pytest.raises(LedgerUnavailable):
        broken.pull()
    assert service.service.cursor == ""
    service.settle()
    assert service.is_due
    service.pull()
    assert service.settle() is None
    assert service.delivered() == ["one\ntwo"]
    assert len(service.pulls()) == 2


def test_a_ledger_that_cannot_store_leaves_the_cursor_where_it_was(service: CustomerWorld) -> None:
    service.say("one")
    with pytest.raises(LedgerUnavailable):
        own(failing(service, "inbox", "add", LedgerUnavailable("away"))).pull()
    assert (service.service.cursor, service.rows()) == ("", [])
    answered(service, "two")
    assert service.delivered() == ["one\ntwo"]


def test_a_process_that_is_not_seen_as_alive_pulls_nothing(service: CustomerWorld) -> None:
    with pytest.raises(OwnerStale):
        own(process(service, "stale", stale=True)).pull()
    assert service.pulls() == []
    assert service.is_due


def test_a_process_that_stops_leaves_the_doorbell_to_others(service: CustomerWorld) -> None:
    stopping = own(using(service, stopping=threading.Event()))
    stopping.bridge.stopping.set()
    stopping.pull()
    assert service.pulls() == []
    assert service.bridge.doorbells.waiting("history") >= 1


def test_the_lock_of_a_dead_process_is_removed_and_its_pull_taken_over(service: CustomerWorld) -> None:
    service.say("hello")
    victim = process(service, "victim")
    assert victim.bridge.locks.take(service.share_id, "victim", 0)
    service.pull()
    assert service.pulls() == []
    heir = own(process(service, "heir", dead=["victim"]))
    ring_due(heir.bridge)
    heir.pull()
    heir.settle()
    assert service.delivered() == ["hello"]


# history


def test_what_was_said_before_the_channel_was_created_is_kept_and_not_answered(service: CustomerWorld) -> None:
    service.say_earlier("three hours ago", 3 * 3600)
    service.say("now")
    service.pull()
    service.settle()
    assert service.said() == [("three hours ago", "skipped", "history"), ("now", *DONE)]
    assert service.delivered() == ["now"]


def test_from_when_on_is_answered_is_a_setting(wired: Wired, wecom: WecomControl) -> None:
    service = CustomerWorld.of_account(wired, wecom, answer_from=wired.bridge.clock.after(-7200))
    service.say_earlier("three hours ago", 3 * 3600)
    service.say_earlier("an hour ago", 3600)
    service.pull()
    service.settle()
    assert service.said() == [("three hours ago", "skipped", "history"), ("an hour ago", *DONE)]


def test_what_comes_while_the_channel_is_disabled_stays_unanswered_when_it_is_enabled(service: CustomerWorld) -> None:
    service.bridge.channels.set_enabled(service.share_id, False, service.bridge.clock.now())
    service.say("is anybody there?")
    service.pull()
    service.bridge.channels.set_enabled(service.share_id, True, service.bridge.clock.now())
    assert service.settle() is None
    assert service.said() == [("is anybody there?", "skipped", "the channel is disabled")]


def test_an_account_that_is_removed_and_added_again_answers_nothing_of_the_time_between(
    service: CustomerWorld, wecom: WecomControl, wired: Wired
) -> None:
    answered(service, "before")
    service.bridge.accounts.remove(service.channel)
    service.pull()
    service.say_earlier("between", 3)
    app = next(each for each in wecom.apps() if each["app"] == service.bot_id)
    again = CustomerWorld.serving(wired, wecom, app, service.open_kfid)
    again.say("after")
    again.pull()
    again.settle()
    assert [row for row in again.said() if row[0] != "before"] == [("between", "skipped", "history"), ("after", *DONE)]


# what is not a question


def test_what_a_human_agent_writes_and_unknown_events_are_kept_and_ask_nothing(
    service: CustomerWorld, wecom: WecomControl
) -> None:
    by_agent = {"msgtype": "text", "text": {"content": "I am on it"}, "origin": 5, "servicer_userid": "agent"}
    wecom.kf_write(service.open_kfid, service.user(), [by_agent], doorbell=False)
    service.event("servicer_status_change")
    service.event("brand_new_event")
    service.pull()
    assert [(row.state.value, row.reason) for row in service.rows()] == [
        ("skipped", "a human agent wrote it"),
        ("skipped", "event: servicer_status_change"),
        ("skipped", "event: brand_new_event"),
    ]
    assert service.bridge.turns.collection.count_documents({"share_id": service.share_id}) == 0
    assert service.channel.last_message_at is None


def test_a_message_that_was_taken_back_before_its_turn_is_not_answered(service: CustomerWorld) -> None:
    [first, _] = service.say("forget this", "but answer this")
    service.event("user_recall_msg", {"recall_msgid": first})
    service.pull()
    service.settle()
    assert service.delivered() == ["but answer this"]
    assert service.said()[0] == ("forget this", "skipped", "the customer took it back")
