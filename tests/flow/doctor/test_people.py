"""`doctor` on the visible range of an app, as ``agent/get`` tells it."""

from __future__ import annotations

from typing import Any

import pytest

from wechat_bridge.flow.doctor.people import of_people

ANN: dict[str, Any] = {"allow_userinfos": {"user": [{"userid": "Ann"}]}}
NOBODY: dict[str, Any] = {"allow_userinfos": {"user": []}, "allow_partys": {"partyid": []}, "allow_tags": {"tagid": []}}


@pytest.mark.parametrize(
    ("fields", "ok", "warning", "words"),
    [
        (ANN, True, False, "1 members, 0 departments, 0 tags"),
        (NOBODY, False, False, "可见范围 is empty"),
        (NOBODY | {"allow_partys": {"partyid": [1, 2]}}, True, False, "0 members, 2 departments"),
        (NOBODY | {"allow_tags": {"tagid": [7]}}, True, False, "1 tags"),
        ({}, False, True, "WeCom does not say who sees the app"),
        ({"allow_userinfos": None, "allow_partys": [], "allow_tags": "x"}, False, False, "可见范围 is empty"),
        ({"allow_userinfos": {"user": "ann"}}, False, False, "可见范围 is empty"),
    ],
)
def test_who_sees_the_app(fields: dict[str, Any], ok: bool, warning: bool, words: str) -> None:
    [check] = of_people(fields)
    assert (check.ok, check.warning) == (ok, warning)
    assert words in check.detail


@pytest.mark.parametrize(
    ("fields", "user", "ok", "words"),
    [
        (ANN, "ann", True, "is in the 可见范围"),
        (ANN, "bob", False, "outside the 可见范围"),
        (ANN | {"allow_partys": {"partyid": [1]}}, "bob", True, "--send-to finds out"),
        (ANN | {"allow_tags": {"tagid": [1]}}, "bob", True, "--send-to finds out"),
    ],
)
def test_whether_a_member_does(fields: dict[str, Any], user: str, ok: bool, words: str) -> None:
    person = of_people(fields, user)[-1]
    assert (person.name, person.ok) == ("person", ok)
    assert words in person.detail
