"""Only somebody else can change the situation; the work is kept."""

from __future__ import annotations

from wechat_bridge.errors.base import RefusedError


class SessionExpired(RefusedError):
    """The WeChat session has ended (-14); log the channel in again."""

    reason = "login_needed"


class SendRefused(RefusedError):
    """WeChat refused a send; the reply waits for the person's next message."""

    reason = "send_refused"

    def __init__(self, code: int, errmsg: str) -> None:
        super().__init__(f"WeChat refused the send with code {code} ({errmsg or 'no errmsg'})")
        self.code = code
        self.errmsg = errmsg


class SendBudgetExhausted(RefusedError):
    """No sends are left for this conversation; the rest goes out when the person writes again."""

    reason = "send_budget"


class SessionNotOurs(RefusedError):
    """A customer service session is with a human, waits for one, or has ended; a bot may not write into it now."""

    reason = "session_not_ours"


class AppHeld(RefusedError):
    """WeCom refuses whatever this app does until somebody changes its configuration; the message says what.

    ``code`` is WeCom's number for it.
    """

    reason = "app_held"

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class AddressNotTrusted(AppHeld):
    """WeCom does not take calls from our address; ``address`` is the one to allow, "" when WeCom did not say."""

    reason = "address_not_trusted"

    def __init__(self, message: str, code: int, address: str) -> None:
        super().__init__(message, code)
        self.address = address


class CredentialRefused(AppHeld):
    """WeCom does not know the app's secret or corp id; the channel needs the right ones."""

    reason = "credential_refused"


class PermissionMissing(AppHeld):
    """The app is disabled or lacks a permission; the message says what to look at."""

    reason = "permission_missing"
