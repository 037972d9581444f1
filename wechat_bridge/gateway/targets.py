"""The doors through which an event is handed over, one for each kind of target.

What a target gets is told in ``outgoing_event``. Whether a failed attempt may have had an effect is told by
``DispatchUnavailable.may_have_effect``: nothing that failed before the event left this process had one, everything that
was cut or timed out afterwards may have had one.
"""

from __future__ import annotations

from typing import Any, Protocol

from wechat_bridge.engines.event_webhook import EventWebhook
from wechat_bridge.engines.text import MOST_CHARACTERS
from wechat_bridge.errors import DispatchRefused, ValidationError
from wechat_bridge.gateway.outgoing_event import outgoing_body, outgoing_headers
from wechat_bridge.gateway.templates import render_text
from wechat_bridge.model.event import Event
from wechat_bridge.model.event_rules import ConversationTarget, HttpTarget

MOST_USER_CHARACTERS = 256


class TargetDoor(Protocol):
    """Hands events over to targets of one kind, the ``kind`` under which the gateway has it. Any thread may call it."""

    def deliver(self, target: Any, event: Event) -> None:
        """Return when the target has the event. Raises DispatchUnavailable and DispatchRefused."""
        ...

    def close(self) -> None:
        """Close the connections that are its own."""
        ...


class HttpTargets:
    """Addresses that get events by POST."""

    def __init__(self, webhook: EventWebhook) -> None:
        self._webhook = webhook

    def deliver(self, target: HttpTarget, event: Event) -> None:
        """Return when the address has answered with 2xx. Raises DispatchUnavailable and DispatchRefused."""
        self._webhook.post(
            target.url,
            target.secret.get_secret_value(),
            event.id,
            outgoing_body(event),
            outgoing_headers(event),
            target.timeout_seconds,
        )

    def close(self) -> None:
        """Leave the connections to whoever made them."""


class SendsNotice(Protocol):
    """Sends a person what an event has to tell them, once for each event."""

    def __call__(self, share_id: str, user_id: str, text: str, event_id: str, trace_id: str) -> None:
        """Return when the text is durable. Raises DispatchUnavailable and DispatchRefused."""
        ...


class ConversationTargets:
    """People on channels of the bridge."""

    def __init__(self, send: SendsNotice) -> None:
        self._send = send

    def deliver(self, target: ConversationTarget, event: Event) -> None:
        """Return when the text is durable and will be sent. Raises DispatchUnavailable and DispatchRefused."""
        user_id = _filled(target.user, event, "user", MOST_USER_CHARACTERS)
        text = _filled(target.text, event, "text", MOST_CHARACTERS)
        self._send(target.share_id, user_id, text, event.id, event.trace_id)

    def close(self) -> None:
        """There are no connections."""


def _filled(template: str, event: Event, name: str, most: int) -> str:
    """Return a template with the fields of the payload in it. Raises DispatchRefused, quoting none of them."""
    try:
        value = render_text(template, event.payload)
    except ValidationError as error:
        raise DispatchRefused(f"conversation target, {name}: {error}") from None
    if not value.strip():
        raise DispatchRefused(f"conversation target, {name}: nothing is left of it with the fields of this event")
    if len(value) > most:
        raise DispatchRefused(f"conversation target, {name}: {len(value)} characters, {most} are allowed")
    return value
