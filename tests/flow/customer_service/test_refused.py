"""A pull that WeCom refuses or does not answer comes again by itself, later and later, and somebody is told."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from tests.flow.customer_service.fixtures import answered, service
from tests.support.customer_world import CustomerWorld
from tests.support.wecom_world import secrets_of
from wechat_bridge.flow.customer_service.pull import LONGEST_PAUSE_SECONDS, UNREAD
from wechat_bridge.flow.health.report import report
from wechat_bridge.flow.wecom.change import change_app
from wechat_bridge.observe import alerts
from wechat_bridge.simulators.wecom import WecomControl

__all__ = ["service"]

SYNC = "kf/sync_msg"


def pause_seconds(service: CustomerWorld) -> float:
    """After how long the account is read again."""
    due_at = service.service.due_at
    assert due_at is not None
    return (due_at - service.bridge.clock.now()).total_seconds()


def complaints(service: CustomerWorld) -> bool:
    """Whether health names the channel among those that want attention."""
    [check] = [each for each in report(service.bridge).checks if each.name == "channels"]
    return f"{service.share_id}: customers are not heard" in check.detail


def told(service: CustomerWorld, pulls: int = 1) -> list[str]:
    """What an operator is told while the account is pulled."""
    with capture_logs() as records:
        for _ in range(pulls):
            service.pull()
    alerts.clear(UNREAD, service.share_id)
    return [record["advice"] for record in records if record.get("cause") == UNREAD]


def test_failures_in_a_row_make_the_pauses_longer_and_the_third_is_told(
    service: CustomerWorld, wecom: WecomControl
) -> None:
    wecom.script(SYNC, service.bot_id, cut=True, times=None)
    pauses = []
    with capture_logs() as records:
        for _ in range(9):
            service.pull()
            pauses.append(round(pause_seconds(service)))
            service.let_pass(pauses[-1] + 1)
    assert pauses == [5, 10, 20, 40, 80, 160, 300, 300, LONGEST_PAUSE_SECONDS]
    raised = [record for record in records if record["event"] == "alert_raised"]
    assert len(raised) == 1
    assert complaints(service)

    wecom.clear_script()
    answered(service, "hello")
    assert service.delivered() == ["hello"]
    assert service.service.failures == 0
    assert not complaints(service)


@pytest.mark.parametrize(
    ("errcode", "words"),
    [(60020, "企业可信IP"), (48007, "微信客服"), (95000, "open_kfid"), (48002, "use the Secret of the app itself")],
)
def test_what_only_a_person_can_mend_is_told_at_once(
    service: CustomerWorld, wecom: WecomControl, errcode: int, words: str
) -> None:
    wecom.script(SYNC, service.bot_id, errcode=errcode)
    [advice] = told(service)
    assert words in advice
    assert pause_seconds(service) == pytest.approx(60, abs=3)


def test_used_up_calls_wait_a_minute_and_tell_nobody(service: CustomerWorld, wecom: WecomControl) -> None:
    wecom.script(SYNC, service.bot_id, errcode=45009)
    assert told(service) == []
    assert pause_seconds(service) == pytest.approx(60, abs=3)


def test_a_cursor_that_wecom_does_not_take_any_more_costs_no_message_and_doubles_none(
    service: CustomerWorld, wecom: WecomControl
) -> None:
    answered(service, "one")
    service.bridge.services.collection.update_one({"_id": service.service.id}, {"$set": {"cursor": "spoiled"}})
    answered(service, "two")
    assert service.delivered() == ["one", "two"]
    assert service.service.cursor != "spoiled"


def test_a_server_that_says_there_is_more_and_does_not_move_is_not_asked_without_end(
    service: CustomerWorld, wecom: WecomControl
) -> None:
    wecom.script(SYNC, service.bot_id, answer={"errcode": 0, "has_more": 1, "msg_list": []}, times=None)
    service.pull()
    assert len(wecom.calls(SYNC)) == 1
    assert pause_seconds(service) == pytest.approx(5, abs=3)


@pytest.mark.parametrize("listed", [None, {}, "x", [None, 1, "x", {}, [], {"msgid": 5}, {"msgtype": "text"}]])
def test_nonsense_in_a_page_is_kept_and_stops_nothing(
    service: CustomerWorld, wecom: WecomControl, listed: object
) -> None:
    answer = {"errcode": 0, "has_more": 0, "msg_list": listed}
    wecom.script(SYNC, service.bot_id, answer=answer)
    service.pull()
    assert all(row.state.value in ("skipped", "failed") for row in service.rows())
    answered(service, "hello")
    assert service.delivered()[-1].endswith("hello")


def test_credentials_that_no_key_opens_are_told_and_nothing_is_pulled(service: CustomerWorld) -> None:
    service.bridge.channels.configure(service.share_id, {"sealed_account": "gAAAAnonsense"})
    [advice] = told(service)
    assert "WECHAT_BRIDGE_SECRET_KEYS" in advice
    assert service.pulls() == []


def test_a_channel_whose_credentials_were_removed_on_purpose_pulls_nothing_and_tells_nobody(
    service: CustomerWorld, wecom: WecomControl
) -> None:
    service.bridge.accounts.log_out(service.share_id)
    assert told(service) == []
    assert service.pulls() == []
    assert pause_seconds(service) > 200
    app = next(each for each in wecom.apps() if each["app"] == service.bot_id)
    change_app(service.bridge, service.share_id, {}, secrets_of(app).model_dump(), "operator")
    answered(service, "welcome back")
    assert service.delivered() == ["welcome back"]
