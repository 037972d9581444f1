"""The only matchmaker: puts settings, stores, doors and doorbells together. Building opens no connection."""

from __future__ import annotations

import atexit
import os
import resource
import socket
import threading
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version

from celery import Celery
from pymongo import MongoClient
from pymongo.database import Database

from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.ilink.login import IlinkLogin
from wechat_bridge.channels.wecom.api import WecomApi
from wechat_bridge.channels.wecom.kf_door import KfDoor
from wechat_bridge.engines.http import EngineHttp
from wechat_bridge.engines.outgoing_webhook import OutgoingWebhook
from wechat_bridge.engines.registry import Engines
from wechat_bridge.engines.speech import load_speech_to_text
from wechat_bridge.flow.configuration.changes import Changes
from wechat_bridge.flow.configuration.check import Judge
from wechat_bridge.flow.configuration.follow import Follower
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.heartbeat import Heartbeat
from wechat_bridge.flow.media.one_host import check_one_host
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.gateway import check
from wechat_bridge.gateway.context import Gateway
from wechat_bridge.gateway.resubmit import EventLetters
from wechat_bridge.live import Live
from wechat_bridge.model import keys
from wechat_bridge.model.channel import ChannelKind
from wechat_bridge.model.worker import Worker
from wechat_bridge.settings import Settings, settings
from wechat_bridge.store import broker, ledger, schema
from wechat_bridge.store.access import AccessStore
from wechat_bridge.store.accounts import AccountStore
from wechat_bridge.store.blobs import ChunkBlobs, FolderBlobs
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.channels import ChannelStore
from wechat_bridge.store.clock import LedgerClock
from wechat_bridge.store.configuration import ConfigurationCache, ConfigurationStore
from wechat_bridge.store.conversations import ConversationStore
from wechat_bridge.store.customer_service import CustomerServiceStore
from wechat_bridge.store.dead_letters import DeadLetterStore
from wechat_bridge.store.dead_spill import DeadLetterSpill
from wechat_bridge.store.due_times import DueTimes
from wechat_bridge.store.engine_gates import EngineGates
from wechat_bridge.store.holds import HoldStore
from wechat_bridge.store.inbox import InboxStore
from wechat_bridge.store.ledger import Document
from wechat_bridge.store.logins import LoginStore
from wechat_bridge.store.media import MediaStore
from wechat_bridge.store.media_links import MediaLinks
from wechat_bridge.store.pacing import SendPacing
from wechat_bridge.store.poll_locks import PollLocks
from wechat_bridge.store.reachable import wait_for_services
from wechat_bridge.store.retention import RetentionStore
from wechat_bridge.store.spill import Spill
from wechat_bridge.store.turns import TurnStore
from wechat_bridge.store.vault import Vault
from wechat_bridge.store.wecom_tokens import WecomTokens
from wechat_bridge.store.workers import WorkerStore
from wechat_bridge.tasks.config import celery_options
from wechat_bridge.tasks.doorbells import CeleryDoorbells
from wechat_bridge.tasks.engine_calls import CeleryCalls
from wechat_bridge.wiring.doors import doors, media_doors
from wechat_bridge.wiring.event_gateway import gateway_of

LOCK_SLACK_SECONDS = 30.0
"""The poll lock outlives the longest poll by this."""

SPARE_FILES = 1024
"""Descriptors for everything but open polls."""


@dataclass
class Wired:
    """A bridge with the parts that only starting and stopping a process needs."""

    bridge: Bridge
    heartbeat: Heartbeat
    http: HttpClient
    engine_http: EngineHttp
    mongo: MongoClient[Document]
    heart_mongo: MongoClient[Document]
    redis: RedisClient
    celery: Celery
    configuration: Changes
    follower: Follower
    gateway: Gateway
    kind: str = "tool"
    queues: tuple[str, ...] = ()
    slots: int = 0

    def prepare(self) -> None:
        """Wait for Redis and MongoDB, build indexes, put the newest configuration in force.

        Raises ServiceNotReachable, SettingsError, IndexNotBuilt.
        """
        given = self.bridge.settings
        wait_for_services(self.redis, given.redis_url, self.mongo, given.mongodb_url, given.start_wait_seconds)
        schema.prepare(ledger.database(self.mongo))
        self.follower.load()

    def start(self) -> None:
        """Prepare, then be seen as alive."""
        self.prepare()
        check_one_host(self.bridge)
        self.heartbeat.start()
        self.follower.start()

    def stop(self) -> None:
        """Leave in good order and close what was opened."""
        self.bridge.stopping.set()
        self.follower.stop()
        self.heartbeat.stop()
        self.close()

    def close(self) -> None:
        """Close what was opened."""
        self.bridge.typing.close()
        self.gateway.close()
        self.http.close()
        self.engine_http.close()
        self.mongo.close()
        self.heart_mongo.close()
        self.redis.close()
        self.celery.close()


def build(given: Settings, celery: Celery) -> Wired:
    """Put a bridge together for the given settings."""
    owner = keys.new_owner(socket.gethostname(), os.getpid())
    mongo = ledger.connect(given.mongodb_url)
    redis_client = broker.connect(given.redis_url)
    http = HttpClient(pool_maxsize=max(given.channel_concurrency, given.reply_concurrency))
    engine_http = EngineHttp(pool_maxsize=given.reply_concurrency)
    clock = LedgerClock(mongo)
    unfinished = Unfinished()
    live = Live(given)
    heart_mongo = ledger.connect(given.mongodb_url, pool_size=2, app_name="wechat-bridge-heartbeat")
    wired: Wired

    def describe() -> Worker:
        now = clock.now()
        return Worker(
            id=owner, kind=wired.kind, queues=wired.queues, slots=wired.slots, seen_at=now, started_at=now,
            version=bridge_version(), media_on_disk=given.media.folder is not None,
            configuration=live.current().version,
        )  # fmt: skip

    heartbeat = Heartbeat(describe, owner, WorkerStore(ledger.database(heart_mongo)), clock, unfinished, given.owner)
    bridge = _bridge(
        given, live, celery, clock, heartbeat, unfinished, ledger.database(mongo), redis_client, http, engine_http
    )
    versions, judge = ConfigurationStore(ledger.database(mongo), Vault(given.secret_keys)), Judge(given, [check.check])
    changes = Changes(versions, clock, judge)
    tell = partial(WorkerStore(ledger.database(mongo)).tell_configuration, owner)
    follower = Follower(live, judge, versions, ConfigurationCache(redis_client), tell)
    gateway = gateway_of(bridge, ledger.database(mongo), redis_client, celery, engine_http)
    bridge = replace(bridge, event_letters=EventLetters(gateway))
    wired = Wired(
        bridge, heartbeat, http, engine_http, mongo, heart_mongo, redis_client, celery, changes, follower, gateway
    )
    return wired


def _bridge(
    given: Settings, live: Live, celery: Celery, clock: LedgerClock, heartbeat: Heartbeat, unfinished: Unfinished,
    database: Database[Document], redis_client: RedisClient, http: HttpClient, engine_http: EngineHttp,
) -> Bridge:  # fmt: skip
    customer_service = KfDoor(WecomApi(http, WecomTokens(redis_client)))
    return Bridge(
        live=live,
        clock=clock,
        alive=heartbeat,
        doorbells=CeleryDoorbells(celery, redis_client),
        channels=ChannelStore(database, Vault(given.secret_keys)),
        accounts=AccountStore(database),
        holds=HoldStore(database),
        access=AccessStore(database),
        inbox=InboxStore(database),
        conversations=ConversationStore(database),
        turns=TurnStore(database),
        dead_letters=DeadLetterStore(database),
        services=CustomerServiceStore(database),
        workers=WorkerStore(database),
        locks=PollLocks(redis_client, given.poll.total_deadline_seconds + LOCK_SLACK_SECONDS),
        logins=LoginStore(redis_client, given.login.whole_seconds),
        pacing=SendPacing(redis_client),
        gates=EngineGates(redis_client),
        spill=Spill(redis_client),
        dead_spill=DeadLetterSpill(redis_client),
        retention=RetentionStore(database),
        due_times=DueTimes(database),
        media=MediaStore(database, FolderBlobs(given.media.folder) if given.media.folder else ChunkBlobs(database)),
        media_links=MediaLinks(given.secret_keys, given.public_base_url, given.media.link_seconds),
        doors=doors(given, http, customer_service),
        login_doors={ChannelKind.ILINK: IlinkLogin(http, given.login.question_seconds)},
        login_slots=threading.BoundedSemaphore(given.login.most_at_once),
        media_doors=media_doors(given, http, customer_service, redis_client),
        customer_service=customer_service,
        engines=Engines(lambda: live.current().settings.engines, engine_http, CeleryCalls(celery)),
        outgoing=OutgoingWebhook(engine_http),
        speech_to_text=load_speech_to_text(),
        unfinished=unfinished,
    )


def bridge_version() -> str:
    """Return the version of the installed distribution."""
    try:
        return version("wechat-celery-bridge")
    except PackageNotFoundError:
        return "unknown"


class _Process:
    """The bridge of this process, built when first needed."""

    def __init__(self) -> None:
        self.celery: Celery | None = None
        self.wired: Wired | None = None
        self.lock = threading.Lock()


_process = _Process()


def use_celery(app: Celery) -> None:
    """Name the application through which this process rings."""
    _process.celery = app


def wired() -> Wired:
    """Return this process's parts."""
    with _process.lock:
        if _process.wired is None:
            _process.wired = build(
                settings(), _process.celery or Celery("wechat_bridge", config_source=celery_options())
            )
        return _process.wired


def bridge() -> Bridge:
    """Return this process's bridge."""
    return wired().bridge


def gateway() -> Gateway:
    """Return this process's event gateway."""
    return wired().gateway


def start_process(kind: str, queues: tuple[str, ...] = (), slots: int = 0) -> None:
    """Wait for the services and be seen as alive; on exit, leave in good order."""
    parts = wired()
    parts.kind, parts.queues, parts.slots = kind, queues, slots
    _allow_open_files(slots)
    parts.start()
    atexit.register(stop_process)


def _allow_open_files(slots: int) -> None:
    """Every open poll is a file descriptor; the usual soft limit of 1,024 is too close to a thousand of them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * slots + SPARE_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def stop_process() -> None:
    """Leave in good order, once."""
    with _process.lock:
        parts, _process.wired = _process.wired, None
    if parts is not None:
        parts.stop()


def cut_open_calls() -> None:
    """Close the sockets of calls to platforms that are still open at the end of a stop's grace."""
    if _process.wired is not None:
        _process.wired.http.cut_all()
