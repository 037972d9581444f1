"""Media in a folder are for one host alone: a process elsewhere would not find them."""

from __future__ import annotations

from datetime import timedelta

from wechat_bridge.errors import SettingsError
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.worker import Worker

SEEN_LATELY = timedelta(seconds=60)


def check_one_host(bridge: Bridge) -> None:
    """Look, at the start of a process, whether all media can be reached by all. Raises SettingsError if not."""
    on_disk = bridge.settings.media.folder is not None
    since = bridge.clock.now() - SEEN_LATELY
    elsewhere = [
        worker for worker in bridge.workers.all() if worker.seen_at > since and _host(worker.id) != _host(bridge.owner)
    ]
    others = [worker for worker in elsewhere if on_disk or worker.media_on_disk]
    if others:
        raise SettingsError(_explained(on_disk, others[0]))


def _host(owner: str) -> str:
    return owner.split(":", 1)[0]


def _explained(on_disk: bool, other: Worker) -> str:
    whose = "this process keeps" if on_disk else f"the processes on {_host(other.id)} keep"
    return (
        f"WECHAT_BRIDGE_MEDIA__FOLDER: {whose} media in a folder of one host, and there are processes on another "
        f"({_host(other.id)}); unset it everywhere, then media are kept in MongoDB"
    )
