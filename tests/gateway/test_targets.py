"""Events by HTTP and into conversations, as the gateway hands them over."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from typing import Any

import pytest

from tests.channels.scripted_server import Exchange, ScriptedServer
from tests.flow.delivering import queued, send
from tests.gateway.handed_over import TRACE_ID, event
from tests.support.world import World
from wechat_bridge.engines.event_webhook import EventWebhook
from wechat_bridge.engines.http import EngineHttp
from wechat_bridge.errors import DispatchRefused, DispatchUnavailable
from wechat_bridge.flow.people.event_notice import EventNotices
from wechat_bridge.gateway.outgoing_event import outgoing_event
from wechat_bridge.gateway.targets import ConversationTargets, HttpTargets, TargetDoor
from wechat_bridge.model import keys
from wechat_bridge.model.event_rules import ConversationTarget, HttpTarget


@pytest.fixture
def http() -> Iterator[TargetDoor]:
    engine_http = EngineHttp(pool_maxsize=2)
    yield HttpTargets(EventWebhook(engine_http))
    engine_http.close()


def http_target(url: str, **fields: Any) -> HttpTarget:
    return HttpTarget.model_validate({"kind": "http", "url": f"{url}/events", "secret": "s3cret", **fields})


def test_f3_an_address_gets_the_documented_object_and_headers_once(http: TargetDoor) -> None:
    given = event({"orderId": "0042", "amount": 12.5, "id": 2**70}, attempts=3)
    with ScriptedServer(lambda exchange: exchange.answer(b"ok")) as server:
        http.deliver(http_target(server.url), given)
    (got,) = server.received
    assert got.json() == outgoing_event(given)
    assert got.headers["x-event-id"] == got.headers["idempotency-key"] == "evt-1"
    assert got.headers["traceparent"].split("-")[1] == TRACE_ID
    signed = got.headers["x-wechat-bridge-timestamp"].encode() + b"." + got.body
    expected = hmac.new(b"s3cret", signed, hashlib.sha256).hexdigest()
    assert got.headers["x-wechat-bridge-signature"] == f"sha256={expected}"


def test_an_address_has_the_time_of_its_route(http: TargetDoor) -> None:
    with (
        ScriptedServer(Exchange.hold) as server,
        pytest.raises(DispatchUnavailable, match=r"within 0\.2 s") as caught,
    ):
        http.deliver(http_target(server.url, timeout_seconds=0.2), event())
    assert caught.value.may_have_effect is True


def conversation(
    share_id: str, user: str = "{openid}", text: str = "已收到付款 {amount} 元 ({order.id})"
) -> ConversationTarget:
    return ConversationTarget(kind="conversation", share_id=share_id, user=user, text=text)


def test_a_payment_becomes_a_message_in_wechat(world: World) -> None:
    world.answer(queued(world, "hello"))
    door = ConversationTargets(EventNotices(world.bridge))
    payment = event({"openid": world.user(), "amount": 12.5, "order": {"id": "0042"}}, id="evt-paid")
    for _ in range(2):
        door.deliver(conversation(world.share_id), payment)
    send(world, world.turn(keys.notice_id(world.share_id, "evt-paid")))
    assert world.delivered() == ["hello", "已收到付款 12.5 元 (0042)"]


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({"amount": 1, "order": {"id": "s3cret"}}, r"user: .*openid"),
        ({"openid": None, "amount": 1, "order": {"id": "s3cret"}}, r"user: .*openid"),
        ({"openid": "ann", "amount": 1, "order": "s3cret"}, r"text: .*order\.id"),
        ({"openid": ["s3cret"], "amount": 1, "order": {"id": 1}}, r"user: .*openid"),
        ({"openid": " ", "amount": 1, "order": {"id": "s3cret"}}, r"user: nothing is left"),
        ({"openid": "s3cret" * 50, "amount": 1, "order": {"id": 1}}, r"user: 300 characters, 256 are allowed"),
        ({"openid": "ann", "amount": 1, "order": {"id": "s3cret" * 100_000}}, r"text: 6000\d\d characters"),
    ],
)
def test_f6_a_text_that_cannot_be_filled_in_is_refused_quoting_nothing(payload: dict[str, Any], said: str) -> None:
    sent: list[str] = []
    door = ConversationTargets(lambda *args, **kwargs: sent.append("sent"))
    with pytest.raises(DispatchRefused, match=f"conversation target, {said}") as caught:
        door.deliver(conversation("shop"), event(payload))
    assert "s3cret" not in str(caught.value)
    assert sent == []
