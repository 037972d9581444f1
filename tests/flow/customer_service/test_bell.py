"""WeCom rings, several times for one thing or in vain, and the account is read once, soon, whatever gets lost."""

from __future__ import annotations

from typing import Any

import pytest

from tests.flow.customer_service.fixtures import own, service
from tests.flow.wecom.calling import AWAY, broken, callbacks_of
from tests.support.customer_world import CustomerWorld
from tests.support.doorbells import taken
from tests.support.system import wait_until
from tests.support.variations import failing, using
from tests.support.wecom_world import WecomWorld, secrets_of
from wechat_bridge.errors import AccountTaken, BrokerUnavailable, LedgerUnavailable
from wechat_bridge.flow.customer_service.bell import ring, ring_due
from wechat_bridge.flow.customer_service.pull import SAFETY_SECONDS
from wechat_bridge.flow.wecom.callback import Outcome
from wechat_bridge.model.message import InboxState
from wechat_bridge.simulators.wecom import WecomControl

__all__ = ["service"]


@pytest.fixture
def quiet(service: CustomerWorld) -> CustomerWorld:
    """The account, read to its end; nobody has rung for it."""
    service.pull()
    assert not service.is_due
    taken(service, "history")
    return service


def doorbells(service: CustomerWorld) -> list[str]:
    """The doorbells that have been rung for this account."""
    return [bell.task for bell in taken(service, "history")]


def test_a_doorbell_is_noted_and_rung_and_carries_no_message(quiet: CustomerWorld) -> None:
    with callbacks_of(quiet.bridge) as callbacks:
        assert quiet.ring(callbacks, "ENCtoken") is Outcome.EVENT
        assert quiet.is_due
        wait_until(lambda: quiet.wired.redis.exists(f"poll:next:{quiet.share_id}"), 5, "somebody rings")
    assert doorbells(quiet) == ["pull_customer_service"]
    assert quiet.rows() == []


def test_the_channel_remembers_when_it_was_called_and_when_somebody_wrote(quiet: CustomerWorld) -> None:
    quiet.say("hello")
    quiet.pull()
    assert quiet.channel.last_message_at is not None
    assert quiet.channel.last_callback_at is None
    with callbacks_of(quiet.bridge) as callbacks:
        quiet.ring(callbacks)
        wait_until(lambda: quiet.channel.last_callback_at, 5, "the doorbell is noted")


def test_doorbells_coalesce(quiet: CustomerWorld) -> None:
    with callbacks_of(quiet.bridge) as callbacks:
        for _ in range(5):
            quiet.ring(callbacks)
    assert doorbells(quiet) == ["pull_customer_service"]
    assert quiet.service.doorbells == 5


def test_a_doorbell_that_comes_while_the_last_page_is_on_its_way_is_not_forgotten(quiet: CustomerWorld) -> None:
    real = quiet.bridge.customer_service

    class Busy:
        """A door at which WeCom rings while the last page is on its way; whoever is rung finds the lock held."""

        def pull(self, *args: Any) -> Any:
            page = real.pull(*args)
            quiet.say("just missed")
            quiet.bridge.services.rang(quiet.service.id, quiet.bridge.clock.now(), None)
            quiet.pull()
            return page

    own(using(quiet, customer_service=Busy())).pull()
    assert quiet.is_due
    assert doorbells(quiet) == ["pull_customer_service"]
    quiet.pull()
    assert [text for text, *_ in quiet.said()] == ["just missed"]
    assert not quiet.is_due


def test_a_doorbell_brings_the_token_that_lifts_the_limit(quiet: CustomerWorld, wecom: WecomControl) -> None:
    wecom.set_options(kf_pulls_without_token=1)
    with callbacks_of(quiet.bridge) as callbacks:
        wecom.set_app(quiet.bot_id, callback_url="http://127.0.0.1:9/nobody")
        wecom.kf_ring(quiet.open_kfid, attempts=1)
        token = wecom.callbacks(quiet.bot_id)[-1]["fields"]["Token"]
        quiet.ring(callbacks, token)
    quiet.say("hello")
    quiet.pull()
    assert f'"token":"{token}"' in quiet.pulls()[-1]["body"]
    assert [text for text, *_ in quiet.said()] == ["hello"]
    assert token not in repr(quiet.bridge.services.collection.find_one({"_id": quiet.service.id}))


def test_a_token_that_wecom_does_not_take_is_left_out_and_forgotten(quiet: CustomerWorld) -> None:
    with callbacks_of(quiet.bridge) as callbacks:
        quiet.ring(callbacks, "ENCwrong")
    quiet.say("hello")
    before = len(quiet.pulls())
    quiet.pull()
    assert [('"token"' in call["body"]) for call in quiet.pulls()[before:]] == [True, False]
    assert [text for text, *_ in quiet.said()] == ["hello"]
    assert quiet.service.event_token is None


def test_a_token_older_than_ten_minutes_is_not_even_tried(quiet: CustomerWorld) -> None:
    with callbacks_of(quiet.bridge) as callbacks:
        quiet.ring(callbacks, "ENCold")
    old = {"$set": {"event_token_at": quiet.bridge.clock.after(-600)}}
    quiet.bridge.services.collection.update_one({"_id": quiet.service.id}, old)
    quiet.pull()
    assert '"token"' not in quiet.pulls()[-1]["body"]


def test_without_any_doorbell_the_account_is_read_every_five_minutes(quiet: CustomerWorld) -> None:
    quiet.say("did nobody hear me?")
    quiet.let_pass(SAFETY_SECONDS - 20)
    ring_due(quiet.bridge)
    assert doorbells(quiet) == []
    quiet.let_pass(20)
    ring_due(quiet.bridge)
    assert doorbells(quiet) == ["pull_customer_service"]
    quiet.pull()
    quiet.settle()
    assert quiet.delivered() == ["did nobody hear me?"]


def test_a_doorbell_that_redis_lost_is_rung_again_from_the_ledger(quiet: CustomerWorld) -> None:
    away = own(failing(quiet, "locks", "announce_all", BrokerUnavailable("away")))
    with callbacks_of(away.bridge) as callbacks:
        assert quiet.ring(callbacks) is Outcome.EVENT
    assert doorbells(quiet) == []
    ring_due(quiet.bridge)
    assert doorbells(quiet) == ["pull_customer_service"]


def test_a_doorbell_on_its_way_is_not_doubled(quiet: CustomerWorld) -> None:
    for _ in range(3):
        ring(quiet.bridge, quiet.share_id)
    assert doorbells(quiet) == ["pull_customer_service"]


def test_a_doorbell_that_the_ledger_cannot_note_is_left_to_be_repeated(quiet: CustomerWorld) -> None:
    bridge = broken(quiet.bridge, quiet.wired, ("services", "rang", AWAY))
    with callbacks_of(bridge) as callbacks, pytest.raises(LedgerUnavailable):
        quiet.ring(callbacks)


def test_one_callback_address_serves_all_accounts_of_an_app(quiet: CustomerWorld, wecom: WecomControl) -> None:
    app = next(each for each in wecom.apps() if each["app"] == quiet.bot_id)
    other = CustomerWorld.serving(quiet.wired, wecom, app, wecom.create_kf_account(app["app"]))
    as_app = WecomWorld.known(quiet.wired, wecom, app)
    other.pull()
    with callbacks_of(quiet.bridge) as callbacks:
        assert quiet.ring(callbacks, OpenKfId=other.open_kfid) is Outcome.EVENT
        assert (quiet.is_due, other.is_due) == (False, True)
        other.pull()
        through_the_app = CustomerWorld(quiet.wired, wecom, as_app.share_id, quiet.bot_id, other.open_kfid)
        assert through_the_app.ring(callbacks) is Outcome.EVENT
    assert (quiet.is_due, other.is_due) == (False, True)


def test_a_doorbell_of_an_account_that_no_channel_reads_is_kept_as_any_other_event(quiet: CustomerWorld) -> None:
    with callbacks_of(quiet.bridge) as callbacks:
        assert quiet.ring(callbacks, "ENC1", OpenKfId="wkstranger") is Outcome.EVENT
    [row] = quiet.rows()
    assert (row.state, row.reason) == (InboxState.SKIPPED, "event: kf_msg_or_event")


def test_what_a_member_writes_to_the_app_is_no_question_to_customer_service(quiet: CustomerWorld) -> None:
    fields: dict[str, Any] = {"Event": "", "MsgType": "text", "Content": "hello?", "FromUserName": "ann", "MsgId": 77}
    with callbacks_of(quiet.bridge) as callbacks:
        quiet.ring(callbacks, **fields)
    assert quiet.said() == [("hello?", "skipped", "to the app, not to its customer service")]


def test_an_account_is_read_by_one_channel(quiet: CustomerWorld, wecom: WecomControl) -> None:
    app = next(each for each in wecom.apps() if each["app"] == quiet.bot_id)
    with pytest.raises(AccountTaken, match=quiet.share_id):
        CustomerWorld.serving(quiet.wired, wecom, app, quiet.open_kfid)


def test_a_channel_whose_account_was_not_noted_is_read_from_its_first_doorbell_on(quiet: CustomerWorld) -> None:
    quiet.bridge.services.collection.delete_one({"_id": quiet.service.id})
    with callbacks_of(quiet.bridge) as callbacks:
        quiet.ring(callbacks)
    assert quiet.is_due


def test_the_account_of_a_removed_channel_is_not_read_any_more(quiet: CustomerWorld) -> None:
    account_id = quiet.service.id
    quiet.bridge.accounts.remove(quiet.channel)
    quiet.pull()
    found = quiet.bridge.services.get(account_id)
    assert found is not None
    assert found.due_at is None


def test_secrets_of_a_channel_stand_in_no_document_and_no_repr(quiet: CustomerWorld, wecom: WecomControl) -> None:
    app = next(each for each in wecom.apps() if each["app"] == quiet.bot_id)
    document = repr(quiet.bridge.channels.collection.find_one({"_id": quiet.share_id}))
    secrets = secrets_of(app)
    for secret in (secrets.secret, secrets.token, secrets.encoding_aes_key):
        assert secret not in document + repr(quiet.channel)
