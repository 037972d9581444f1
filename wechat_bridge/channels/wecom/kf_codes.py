"""What the errcodes of customer service mean; those of all of WeCom are in ``codes``.

Their numbers are not among the facts that were checked against the live service: what is unknown is tried again.
"""

from __future__ import annotations

from wechat_bridge.channels.wecom.answers import Answer
from wechat_bridge.channels.wecom.codes import error_of
from wechat_bridge.errors import (
    BridgeError,
    PermissionMissing,
    RecipientRefused,
    SendBudgetExhausted,
    SessionNotOurs,
)

_USED_UP = frozenset({95001, 95002})
"""More than five messages since the customer's last one, or more than 48 hours after it."""

_SESSION = frozenset({95013, 95016, 95018})
"""The session has ended, or is with a human or on the way to one; 95016: so it cannot be moved."""

_NO_CUSTOMER = frozenset({40096})
_PERMISSION = {
    48007: "put the app on 微信客服-可调用接口的应用, and let it serve this account",
    95000: "there is no account of this open_kfid; correct it",
    95004: "there is no account of this open_kfid; correct it",
}


def kf_error_of(answer: Answer, call: str) -> BridgeError:
    """Return the error that an answer is whose errcode is not 0."""
    said = f"WeCom refuses {call} with {answer.code} ({answer.errmsg or 'no errmsg'})"
    if answer.code in _USED_UP:
        return SendBudgetExhausted(f"{said}: the rest goes out when the customer writes again")
    if answer.code in _SESSION:
        return SessionNotOurs(f"{said}: a human serves this customer, or the session has ended")
    if answer.code in _NO_CUSTOMER:
        return RecipientRefused(f"{said}: this is no customer of the account")
    if answer.code in _PERMISSION:
        return PermissionMissing(f"{said}: {_PERMISSION[answer.code]}", answer.code)
    return error_of(answer.code, answer.errmsg, call)


def is_repeat(answer: Answer) -> bool:
    """Whether an answer says that WeCom has a message of this msgid already, which makes it an accepted one.

    The number of that refusal is not published. Ours are well-formed, so there is nothing else to say about them.
    """
    return answer.code != 0 and "msgid" in answer.errmsg.lower()
