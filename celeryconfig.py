"""The bridge's settings as Celery options, one reason per option. Importing it opens no connection.

Facts about Celery 5.7 on Redis that these rest on are told in the README's section on Celery.
"""

from __future__ import annotations

from typing import Any

from kombu.entity import Exchange, Queue

from wechat_bridge.settings import settings
from wechat_bridge.store.redis_keys import BROKER_PREFIX, RESULT_PREFIX

_settings = settings()

# Redis carries the doorbells.
broker_url = _settings.redis_url
broker_transport_options: dict[str, Any] = {
    # Our queues apart from anything else in the database; redis_keys.queue() relies on it.
    "global_keyprefix": BROKER_PREFIX,
    # One list per queue instead of four: we use no priorities, and LLEN then tells the truth.
    "priority_steps": [0],
    # All tasks acknowledge early; only countdowns (60 s at most) wait unacknowledged.
    "visibility_timeout": 600,
    # A half-open connection or a server that hangs is noticed, and a publish never hangs for ever.
    "socket_timeout": 30,
    "socket_connect_timeout": 5,
    "socket_keepalive": True,
    "health_check_interval": 25,
    # Up to a thousand threads acknowledge through this pool; ten connections would be refused at once.
    "max_connections": 200,
    "client_name": "wechat-bridge-celery",
}
# Publishing threads share this many producers.
broker_pool_limit = 50
# A worker outlives a Redis restart, however long.
broker_connection_retry_on_startup = True
broker_connection_max_retries = None
# Nor does it end because an old primary says READONLY after a failover, which is no lost connection to Celery.
broker_channel_error_retry = True
# A doorbell that cannot be rung soon is rung by the sweep; nobody waits long for it.
task_publish_retry_policy = {"max_retries": 2, "interval_start": 0.1, "interval_step": 0.3, "interval_max": 1}

# Ids and small numbers only; nothing that could carry code.
task_serializer = "json"
accept_content = ["json"]
timezone = "UTC"

# The ledger holds results; Celery keeps only those of management tasks, for the operator who called one.
result_backend = _settings.redis_url
if result_backend.startswith("rediss://") and "ssl_cert_reqs" not in result_backend:
    # Without being told so, Celery's backend refuses such an address; everything else checks certificates anyway.
    result_backend += f"{'&' if '?' in result_backend else '?'}ssl_cert_reqs=required"
task_ignore_result = True
result_expires = 600
result_backend_transport_options = {
    "global_keyprefix": RESULT_PREFIX,
    # A result that Redis does not take within seconds is given up; what the task did stands in the ledger.
    "retry_policy": {"max_retries": 3, "interval_start": 0.1, "interval_step": 0.5, "interval_max": 2, "timeout": 5.0},
}
redis_socket_connect_timeout = 5
redis_socket_timeout = 30

# The ledger and the sweep recover what a dead worker held, within seconds; redelivery would take minutes.
task_acks_late = False
# A doorbell waits in Redis, where any free worker can take it and the queue's length tells the truth.
worker_disable_prefetch = True
worker_prefetch_multiplier = 1
# Threads cannot be cancelled; every call has its own deadline.
worker_cancel_long_running_tasks_on_connection_loss = False
# Flower and inspect use it; relogin and the like are ordinary tasks, not broadcasts.
worker_enable_remote_control = True
worker_send_task_events = True
task_send_sent_event = True
# What it refuses reaches no task's on_failure and would be deleted: it is kept as a dead letter.
worker_consumer = "wechat_bridge.tasks.consumer:DeadLetterConsumer"
# Our own logging, one format for every process.
worker_hijack_root_logger = False

# Queues: a typo in a route must not make a queue that nobody reads.
task_create_missing_queues = False
task_default_queue = "maintenance"
# Each has an exchange and a key of its own: queues that share a key would each get every message.
QUEUES = ("poll", "inbox", "reply", "deliver", "events", "management", "maintenance", "history", "dead_letter")
task_queues = [Queue(name, Exchange(name), routing_key=name) for name in QUEUES]
task_routes = {
    "wechat_bridge.poll_channel": {"queue": "poll"},
    "wechat_bridge.flush_conversation": {"queue": "inbox"},
    "wechat_bridge.generate_reply": {"queue": "reply"},
    "wechat_bridge.deliver_reply": {"queue": "deliver"},
    "wechat_bridge.record_dead_letter": {"queue": "dead_letter"},
    "wechat_bridge.follow_login": {"queue": "management"},
    "wechat_bridge.relogin": {"queue": "management"},
    "wechat_bridge.submit_verify_code": {"queue": "management"},
    "wechat_bridge.logout": {"queue": "management"},
    "wechat_bridge.enable": {"queue": "management"},
    "wechat_bridge.disable": {"queue": "management"},
    "wechat_bridge.probe": {"queue": "management"},
    "wechat_bridge.replay_dead_letter": {"queue": "management"},
    "wechat_bridge.access_list": {"queue": "management"},
    "wechat_bridge.access_policy": {"queue": "management"},
    "wechat_bridge.access_limit": {"queue": "management"},
    "wechat_bridge.access_allow": {"queue": "management"},
    "wechat_bridge.access_deny": {"queue": "management"},
    "wechat_bridge.access_forget": {"queue": "management"},
    "wechat_bridge.access_approve": {"queue": "management"},
    "wechat_bridge.access_mute": {"queue": "management"},
    "wechat_bridge.access_unmute": {"queue": "management"},
    "wechat_bridge.access_human": {"queue": "management"},
    "wechat_bridge.access_bot": {"queue": "management"},
    "wechat_bridge.send_notice": {"queue": "management"},
    "wechat_bridge.pull_customer_service": {"queue": "history"},
    "wechat_bridge.ingest_event": {"queue": "events"},
    "wechat_bridge.flush_window": {"queue": "events"},
    "wechat_bridge.dispatch_event": {"queue": "events"},
    "wechat_bridge.record_dead_event": {"queue": "dead_letter"},
    "wechat_bridge.sweep_events": {"queue": "maintenance"},
    "wechat_bridge.seed_poll_chains": {"queue": "maintenance"},
    "wechat_bridge.seed_customer_service": {"queue": "maintenance"},
    "wechat_bridge.sweep": {"queue": "maintenance"},
}
imports = (
    "wechat_bridge.tasks.polling",
    "wechat_bridge.tasks.replying",
    "wechat_bridge.tasks.management",
    "wechat_bridge.tasks.access",
    "wechat_bridge.tasks.customer_service",
    "wechat_bridge.tasks.events",
    "wechat_bridge.tasks.maintenance",
)

# Entries are idempotent and expire, so two beats, or a backlog after an outage, are harmless; no state on disk.
beat_scheduler = "celery.beat:Scheduler"
beat_max_loop_interval = 2
beat_schedule: dict[str, dict[str, Any]] = {
    "seed-poll-chains": {
        "task": "wechat_bridge.seed_poll_chains",
        # A worker counts as dead 8 s after it was seen; its chains are to be back 12 s after it was killed.
        "schedule": 2.0,
        "options": {"expires": 2},
    },
    "seed-customer-service": {
        # Accounts for which WeCom did not ring, or rang in vain, are read within seconds or, at the latest, minutes.
        "task": "wechat_bridge.seed_customer_service",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "sweep": {
        "task": "wechat_bridge.sweep",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "sweep-events": {
        "task": "wechat_bridge.sweep_events",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
}
