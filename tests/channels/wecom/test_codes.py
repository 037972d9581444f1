"""What every documented errcode means for the work at hand (facts, 4b)."""

from __future__ import annotations

import pytest

from wechat_bridge.channels.wecom.codes import error_of
from wechat_bridge.errors import (
    AddressNotTrusted,
    AppHeld,
    BridgeError,
    ContentRefused,
    CredentialRefused,
    MediaExpired,
    MediaRefused,
    PermissionMissing,
    PlatformBusy,
    PlatformUnavailable,
    QuotaUsedUp,
    RecipientRefused,
)
from wechat_bridge.model.outcome import GiveUp, Park, RetryBudget, RetryIn, decide

MEANINGS: list[tuple[type[BridgeError], tuple[int, ...]]] = [
    (PlatformUnavailable, (-1, 6000, 41001, 40014, 42001, 123456)),
    (PlatformBusy, (45033,)),
    (QuotaUsedUp, (45009,)),
    (CredentialRefused, (40001, 40013, 40091, 45031)),
    (AddressNotTrusted, (60020, 301042)),
    (PermissionMissing, (48001, 48002, 48004, 48006, 50002, 50003, 301002, 40056, 43012)),
    (RecipientRefused, (40003, 40031, 46004, 60011, 60111, 81013, 82001, 43004)),
    (
        ContentRefused,
        (40008, 40033, 40035, 40058, 41016, 41033, 44004, 45002, 45008, 42014, 42045, 42051, 82004, 40201),
    ),
    (MediaRefused, (40004, 40005, 40006, 40009, 40011, 44001, 45001, 45007, 40123, 301016, 301017)),
    (MediaExpired, (40007,)),
]
CODES = [(code, kind) for kind, codes in MEANINGS for code in codes]
SAID = "not allow to access from your ip, hint: [1], from ip: 192.0.2.7, more info at https://open.work.weixin.qq.com/x"


@pytest.mark.parametrize(("code", "kind"), CODES)
def test_a_code_is_an_error_that_says_the_code_and_the_call(code: int, kind: type[BridgeError]) -> None:
    error = error_of(code, "some errmsg", "message/send")
    assert type(error) is kind
    assert str(error).startswith(f"WeCom refuses message/send with {code} (some errmsg)")
    assert not isinstance(error, AppHeld) or error.code == code


OUTCOMES: list[tuple[int, type]] = [
    (60020, Park), (48002, Park), (40001, Park), (81013, GiveUp), (40003, GiveUp), (45002, GiveUp), (40004, GiveUp),
    (45009, RetryIn), (-1, RetryIn), (45033, RetryIn), (42001, RetryIn),
]  # fmt: skip


@pytest.mark.parametrize(("code", "outcome"), OUTCOMES)
def test_a_code_leads_to_waiting_giving_up_or_trying_again(code: int, outcome: type) -> None:
    assert type(decide(error_of(code, "x", "message/send"), 1, RetryBudget())) is outcome


def test_a_used_up_quota_is_waited_for_and_a_busy_server_is_tried_soon() -> None:
    quota, busy = (decide(error_of(code, "x", "message/send"), 1, RetryBudget()) for code in (45009, -1))
    assert isinstance(quota, RetryIn)
    assert isinstance(busy, RetryIn)
    assert quota.seconds >= 60
    assert busy.seconds <= 2


@pytest.mark.parametrize(
    ("errmsg", "address"),
    [
        (SAID, "192.0.2.7"),
        ("not allow, from ip: 2001:db8::7, more info", "2001:db8::7"),
        ("from ip:192.0.2.7.", "192.0.2.7"),
        ("not allow to access from your ip", ""),
        ("", ""),
        ("from ip: <script>", ""),
    ],
)
def test_an_untrusted_address_is_named_so_that_it_can_be_allowed(errmsg: str, address: str) -> None:
    error = error_of(60020, errmsg, "message/send")
    assert isinstance(error, AddressNotTrusted)
    assert error.address == address
    assert f"add {address or 'the address from which this bridge calls'} to 企业可信IP" in str(error)
