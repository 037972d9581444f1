"""The visible range of an app (可见范围): whom it may write to, and who may write to it."""

from __future__ import annotations

from typing import Any

from wechat_bridge.flow.health.check import Check

NAME = "visible range"
GROUPS = ("allow_userinfos", "allow_partys", "allow_tags")


def of_people(fields: dict[str, Any], user_id: str = "") -> list[Check]:
    """Judge the answer of ``agent/get``; with ``user_id`` also whether that member is in range."""
    users = [str(row.get("userid", "")) for row in _rows(fields, "allow_userinfos", "user") if isinstance(row, dict)]
    parties, tags = len(_rows(fields, "allow_partys", "partyid")), len(_rows(fields, "allow_tags", "tagid"))
    if not any(group in fields for group in GROUPS):
        detail = "WeCom does not say who sees the app; look at its 可见范围 under 应用管理 if somebody gets nothing"
        return [Check(name=NAME, ok=False, detail=detail, warning=True)]
    if not users and not parties and not tags:
        detail = "可见范围 is empty, nobody sees the app: choose people or departments under 应用管理 > the app"
        return [Check(name=NAME, ok=False, detail=detail)]
    found = [Check(name=NAME, ok=True, detail=f"{len(users)} members, {parties} departments, {tags} tags")]
    return [*found, _person(user_id, users, is_listed_only=not parties and not tags)] if user_id else found


def _person(user_id: str, users: list[str], *, is_listed_only: bool) -> Check:
    if user_id.lower() in {user.lower() for user in users}:
        return Check(name="person", ok=True, detail=f"{user_id} is in the 可见范围")
    if is_listed_only:
        detail = f"{user_id} is outside the 可见范围 and gets nothing (81013): add them under 应用管理 > the app"
        return Check(name="person", ok=False, detail=detail)
    detail = f"{user_id} is not named in the 可见范围; a department or tag in it may hold them, --send-to finds out"
    return Check(name="person", ok=True, detail=detail)


def _rows(fields: dict[str, Any], group: str, name: str) -> list[Any]:
    inside = fields.get(group)
    rows = inside.get(name) if isinstance(inside, dict) else None
    return rows if isinstance(rows, list) else []
