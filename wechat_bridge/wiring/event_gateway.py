"""Puts the event gateway together from the parts of a process."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING

from celery import Celery
from pymongo.database import Database

from wechat_bridge.engines.event_webhook import EventWebhook
from wechat_bridge.engines.http import EngineHttp
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.dead_letters import letters
from wechat_bridge.flow.people.event_notice import EventNotices
from wechat_bridge.gateway.context import Gateway
from wechat_bridge.gateway.dedupe import Dedupe
from wechat_bridge.gateway.degrade import Guard
from wechat_bridge.gateway.targets import ConversationTargets, HttpTargets, TargetDoor
from wechat_bridge.gateway.versions import Versions
from wechat_bridge.live import Built
from wechat_bridge.model.event_rules import EventRules
from wechat_bridge.store import broker
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.event_claims import EventClaims
from wechat_bridge.store.event_spill import EventSpill
from wechat_bridge.store.event_versions import EventVersionStore
from wechat_bridge.store.event_windows import EventWindowStore
from wechat_bridge.store.events import EventStore
from wechat_bridge.store.ledger import Document
from wechat_bridge.tasks.doorbells import CeleryDoorbells
from wechat_bridge.tasks.event_consumer import consume
from wechat_bridge.tasks.event_targets import QueueTargets, TaskTargets

if TYPE_CHECKING:
    from wechat_bridge.gateway.compiled import Compiled


def gateway_of(
    bridge: Bridge, database: Database[Document], redis_client: RedisClient, celery: Celery, http: EngineHttp
) -> Gateway:
    """Return the gateway of a process; its rules are those of the configuration in force."""
    claims = EventClaims(broker.connect_limited(bridge.settings.redis_url))
    return Gateway(
        settings=lambda: bridge.settings,
        rules=bridge.live.rules,
        compiled=Built(bridge.live, _compiled).get,
        clock=bridge.clock,
        alive=bridge.alive,
        doorbells=CeleryDoorbells(celery, redis_client),
        events=EventStore(database),
        windows=EventWindowStore(database),
        versions=Versions(EventVersionStore(database)),
        spill=EventSpill(redis_client),
        dedupe=Dedupe(claims, Guard(lambda: bridge.live.rules().degrade)),
        targets=_targets(bridge, celery, http),
        dead_letters=bridge.dead_letters,
        keep_letter=partial(letters.keep, bridge),
        unfinished=bridge.unfinished,
        stopping=bridge.stopping,
    )


def _compiled(rules: EventRules) -> Compiled:
    """Load what reads and judges payloads only where events are taken: 9 MB that a poll worker need not hold."""
    from wechat_bridge.gateway.compiled import compiled  # noqa: PLC0415

    return compiled(rules)


def consume_events(gateway: Gateway, redis_url: str, stop: threading.Event) -> None:
    """Read the brokers' queues that the rules name until ``stop`` is set. Raises NotConfigured where there are none."""
    consume(gateway, redis_url, stop)


def _targets(bridge: Bridge, celery: Celery, http: EngineHttp) -> dict[str, TargetDoor]:
    return {
        "task": TaskTargets(celery),
        "queue": QueueTargets(bridge.settings.redis_url),
        "http": HttpTargets(EventWebhook(http)),
        "conversation": ConversationTargets(EventNotices(bridge)),
    }
