"""What the events of one window become. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from wechat_bridge.model.event import Event, JsonObject

ORIGINS = ("replyTo", "quote", "forward")
"""Fields that say where a single message comes from; merged, they stay with it."""

Mode = Literal["merge", "replace", "throttle"]


def merged(mode: Mode, sources: Sequence[Event]) -> JsonObject:
    """Return the payload that goes on for events in order of receipt. One alone goes on as it is.

    Merged: texts are joined by line breaks, mentions united, media joined without repeats; everything else is that of
    the last one. ``sourceIds`` has the ids of all, ``items`` those that quote or forward something, each with it.
    """
    last = sources[-1].payload
    if len(sources) == 1 or mode != "merge":
        return dict(last)
    payloads = [event.payload for event in sources]
    joined: JsonObject = dict(last) | {"sourceIds": [source_id(event) for event in sources]}
    texts = [payload["text"] for payload in payloads if isinstance(payload.get("text"), str) and payload["text"]]
    if texts:
        joined["text"] = "\n".join(texts)
    for name in ("mentions", "media"):
        if any(name in payload for payload in payloads):
            joined[name] = _united(payload.get(name) for payload in payloads)
    items = [_item(event) for event in sources if any(name in event.payload for name in ORIGINS)]
    return joined | ({"items": items} if items else {})


def source_id(event: Event) -> str:
    """Return the sender's own id of a message where it has one, else ours."""
    own = event.payload.get("messageId")
    return str(own) if isinstance(own, str | int) else event.id


def _item(event: Event) -> JsonObject:
    kept = {name: event.payload[name] for name in ("text", *ORIGINS) if name in event.payload}
    return {"id": source_id(event)} | kept


def _united(lists: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for values in lists:
        for value in values if isinstance(values, list) else []:
            if value not in found:
                found.append(value)
    return found
