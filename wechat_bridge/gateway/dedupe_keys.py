"""What makes two events the same: a key by template, the sender's message id, or a fingerprint of the payload.

The three kinds of keys begin differently, so one is never taken for another. They are names in Redis as they stand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from decimal import Decimal

from wechat_bridge.errors import SettingsError
from wechat_bridge.gateway.templates import (
    HASHED,
    KeyMissing,
    Scalar,
    check_template,
    escaped,
    exact,
    find,
    key_value,
    parts_of,
    render,
    scalar,
    shortened,
)
from wechat_bridge.model.event import JsonObject
from wechat_bridge.model.event_rules import DedupeRule
from wechat_bridge.store import redis_keys

Ignored = dict[str, "Ignored"]
"""Names to leave out, as a tree; a name without branches goes with all that is in it."""


def check_rule(rule: DedupeRule) -> None:
    """Raise SettingsError, saying why, unless keys can be made by this rule."""
    for template in filter(None, (rule.key, rule.subject)):
        check_template(template)
    if rule.key and not any(part.is_field for part in parts_of(rule.key)):
        raise SettingsError(f"key {rule.key!r} names no field: all events but the first would be repeats of it")


def dedup_key(rule: DedupeRule, event_type: str, payload: JsonObject) -> str | None:
    """Return what names an event among all, None where its type is never deduplicated.

    ``dedup:...`` as its template says, ``msg:id:{id}`` with its type and scope, or ``fingerprint:{sha256}``. Raises
    KeyMissing.
    """
    if rule.by == "key":
        key = render(rule.key, payload)
        return key if key.startswith(f"{redis_keys.DEDUP}:") else shortened(f"{redis_keys.DEDUP}:{key}")
    if rule.by == "message_id":
        return _by_message_id(rule, event_type, payload)
    if rule.by == "fingerprint":
        return f"{redis_keys.FINGERPRINT}:{fingerprint(event_type, payload, rule.ignore)}"
    return None


def _by_message_id(rule: DedupeRule, event_type: str, payload: JsonObject) -> str:
    """Ids are unique with one sender, in one chat; so the same number elsewhere is another event."""
    message_id = key_value(scalar(payload, rule.id_field))
    if not message_id:
        raise KeyMissing(rule.id_field, "is empty")
    within = [f"type={escaped(event_type)}"]
    for path in rule.scope:
        found = find(payload, path)
        if found is not None:
            within.append(f"{escaped(path).replace('=', '%3D')}={_in_scope(found)}")
    return shortened(":".join([redis_keys.MESSAGE_ID, message_id, *within]))


def _in_scope(value: object) -> str:
    """A chat that is described by an object is told apart from others by all of it."""
    if isinstance(value, dict | list):
        return HASHED + _hash(canonical(value))
    return key_value(_as_scalar(value))


def fingerprint(event_type: str, payload: JsonObject, ignore: tuple[str, ...] = ()) -> str:
    """Return the SHA-256, in hex, of type and payload as canonical JSON without the fields of ``ignore``.

    A path leads through lists into each of their objects.
    """
    without: Ignored = {}
    for path in ignore:
        _plant(without, path.split("."))
    return _hash(_typed(event_type, canonical(payload, without)))


def canonical(value: object, without: Ignored | None = None) -> Iterator[str]:
    """Yield JSON in pieces: names in order, no spaces, ASCII, equal numbers alike. For any depth, so not recursive."""
    waiting: list[tuple[object, Ignored] | str] = [(value, without or {})]
    while waiting:
        step = waiting.pop()
        if isinstance(step, str):
            yield step
            continue
        found, left_out = step
        if isinstance(found, dict):
            waiting.extend(reversed(list(_members(found, left_out))))
        elif isinstance(found, list | tuple):
            waiting.extend(reversed(list(_elements(found, left_out))))
        else:
            yield _leaf(found)


def _members(found: JsonObject, left_out: Ignored) -> Iterator[tuple[object, Ignored] | str]:
    yield "{"
    is_first = True
    for name in sorted(found):
        below = left_out.get(name)
        if below is not None and not below:
            continue
        yield f"{'' if is_first else ','}{json.dumps(name)}:"
        yield found[name], below or {}
        is_first = False
    yield "}"


def _elements(found: list[object] | tuple[object, ...], left_out: Ignored) -> Iterator[tuple[object, Ignored] | str]:
    yield "["
    for number, element in enumerate(found):
        if number:
            yield ","
        yield element, left_out
    yield "]"


def _leaf(value: object) -> str:
    if value is None:
        return "null"
    plain = _as_scalar(value)
    return json.dumps(plain) if isinstance(plain, str) else exact(plain)


def _as_scalar(value: object) -> Scalar:
    """What no JSON knows, a time say, is told apart by how it is written."""
    return value if isinstance(value, str | int | float | Decimal) else str(value)


def _plant(tree: Ignored, names: list[str]) -> None:
    """Add a path to a tree; the shorter one of two on the same way counts."""
    for name in names[:-1]:
        if tree.get(name) == {}:
            return
        tree = tree.setdefault(name, {})
    tree[names[-1]] = {}


def _typed(event_type: str, pieces: Iterator[str]) -> Iterator[str]:
    yield f"[{json.dumps(event_type)},"
    yield from pieces
    yield "]"


def _hash(pieces: Iterator[str]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece.encode())
    return digest.hexdigest()
