"""What doorbells, pulls and failed messages of customer service ask."""

from __future__ import annotations

from collections.abc import Callable

from tests.store.big_ledger import BigLedger
from tests.store.hot_queries import Call, Case
from wechat_bridge.model.wecom_kf import Service


def _service(act: Callable[[BigLedger, Service], object]) -> Case:
    """Time ``act`` on an account of its own."""

    def case(big: BigLedger, name: str) -> Call:
        big.services.add(f"corp:{name}", name, big.after(300))
        service = big.services.take(f"corp:{name}", 0)
        assert service is not None
        return lambda: act(big, service)

    return case


HOT: dict[str, Case] = {
    "services.get": _service(lambda big, service: big.services.get(service.id)),
    "services.rang": _service(lambda big, service: big.services.rang(service.id, big.after(300), None)),
    "services.take": _service(lambda big, service: big.services.take(service.id, service.generation)),
    "services.move": _service(lambda big, service: big.services.move(service, "cursor")),
    "services.finish": _service(lambda big, service: big.services.finish(service, big.after(300))),
    "services.postpone": _service(lambda big, service: big.services.postpone(service, big.after(300), 1)),
    "services.due": _service(lambda big, _: big.services.due(big.now)),
    "turns.sent_as": _service(lambda big, _: big.turns.sent_as("wechat_channel_done-50", "unknown")),
}
RARE = {
    "services.add", "services.end",  # an operator's commands
    "services.forget_token",  # a token that WeCom does not take
    "turns.undo", "turns.park_again", "conversations.exhaust",  # a message that was accepted and not shown
}  # fmt: skip
