"""Customer service as a channel: what may be set, and under which id a message is taken once."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import ValidationError

from wechat_bridge.model.wecom import WecomSecrets
from wechat_bridge.model.wecom_kf import Entry, KfSettings, kf_account_of, msgid_of

KEY = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"


def settings(**changes: Any) -> KfSettings:
    return KfSettings(**{"corp_id": "wwcorp", "agent_id": 7, "open_kfid": "wkAJ2GCAAA"} | changes)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("open_kfid", ""),
        ("open_kfid", "a b"),
        ("welcome_text", "欢" * 683),
        ("welcome_events", ["subscribe"]),
        ("clicks", True),
        ("markdown", True),
        ("unknown", 1),
    ],
)
def test_what_cannot_be_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        settings(**{field: value})


def test_settings_survive_the_ledger() -> None:
    given = settings(welcome_text="欢" * 682, answer_from="2026-11-30T12:00:00Z")
    assert KfSettings.model_validate(given.model_dump(mode="json")) == given


def test_an_account_is_named_by_corp_and_open_kfid_and_shows_no_secret() -> None:
    secrets = WecomSecrets(secret="s3cr3t", token="t0ken", encoding_aes_key=KEY)
    account = kf_account_of(settings(), secrets)
    assert (account.account_id, account.open_kfid, account.agent_id) == ("wwcorp:wkAJ2GCAAA", "wkAJ2GCAAA", 7)
    assert not [secret for secret in ("s3cr3t", "t0ken", KEY) if secret in repr(account)]


def test_a_msgid_fits_is_always_the_same_and_never_that_of_another_message() -> None:
    ids = [f"wechat-bridge-{'0' * 24}-{number}" for number in range(1_000)]
    msgids = [msgid_of(each) for each in ids]
    assert msgids == [msgid_of(each) for each in ids]
    assert len(set(msgids)) == 1_000
    assert all(re.fullmatch(r"[0-9A-Za-z_-]{1,32}", each) for each in msgids)


def test_fields_of_an_event_are_what_they_should_be_or_nothing() -> None:
    entry = Entry(message=None, fields={"a": "x", "b": 3, "c": True})  # type: ignore[arg-type]  # not looked at
    assert [entry.text(name) for name in "abcd"] == ["x", "", "", ""]
    assert [entry.number(name) for name in "abcd"] == [None, 3, None, None]
