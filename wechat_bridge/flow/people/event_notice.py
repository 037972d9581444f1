"""Tell a person what an event has to tell them: a notice whose id is that of the event."""

from __future__ import annotations

from wechat_bridge.errors import (
    ChannelUnknown,
    DispatchRefused,
    DispatchUnavailable,
    LedgerUnavailable,
    NoticeRefused,
    NoticeWaits,
)
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.people.notice import send_notice


class EventNotices:
    """Sends such notices within what the channel allows."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    def __call__(self, share_id: str, user_id: str, text: str, event_id: str, trace_id: str) -> None:
        """Return when the text is durable; from then on it is sent, parked or given up like any notice.

        The same event again sends nothing twice. Raises DispatchUnavailable while the ledger is away or another notice
        to the person is under way, and DispatchRefused, with the reason, where the channel allows none.
        """
        try:
            send_notice(self._bridge, share_id, user_id, text, event_id, trace_id)
        except NoticeWaits as error:
            raise DispatchUnavailable(str(error)) from None
        except (NoticeRefused, ChannelUnknown) as error:
            raise DispatchRefused(str(error)) from None
        except LedgerUnavailable as error:  # it may have stored the notice and not been able to say so
            raise DispatchUnavailable(str(error), error.retry_after_seconds, may_have_effect=True) from error
