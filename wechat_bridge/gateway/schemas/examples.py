"""Two models that ship, to be used or to be copied: somebody logs in, a payment changes its status."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, IPvAnyAddress, PlainSerializer
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

_AMOUNT = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,8})?")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9:.]{5,18}([Zz]|[+-][0-9]{2}:?[0-9]{2})")


class EventModel(BaseModel):
    """Payloads have names in camelCase; texts are texts, numbers are numbers, and nothing is guessed."""

    model_config = ConfigDict(alias_generator=to_camel, frozen=True, hide_input_in_errors=True)


def _identifier(value: Any) -> Any:
    """Ids are texts; one that came as a number becomes one, with all its digits."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _amount(value: Any) -> Any:
    """A decimal as it was written, or as the shortest text that is the same double."""
    text = repr(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not _AMOUNT.fullmatch(text):
        raise PydanticCustomError(
            "event_amount", "should be an amount like 12.50, with at most 18 digits before the point and 8 behind it"
        )
    return Decimal(text)


def _address(value: Any) -> Any:
    """An address as a text; a number could be meant as one, but nobody writes it so."""
    if not isinstance(value, str):
        raise PydanticCustomError("event_address", "should be an IP address like 192.0.2.7 or 2001:db8::7")
    return value


def _moment(value: Any) -> Any:
    """A text with its offset from UTC; what has none means another moment on every machine."""
    if isinstance(value, datetime) or (isinstance(value, str) and _TIMESTAMP.fullmatch(value)):
        return value
    raise PydanticCustomError("event_moment", "should be a time like 2026-11-30T08:00:00+08:00")


Identifier = Annotated[str, BeforeValidator(_identifier), Field(min_length=1, max_length=128)]
Amount = Annotated[Decimal, BeforeValidator(_amount), PlainSerializer(lambda value: f"{value:f}", return_type=str)]
"""An exact decimal; in the typed payload a text with the digits it was written with."""
Address = Annotated[IPvAnyAddress, BeforeValidator(_address)]
Moment = Annotated[AwareDatetime, BeforeValidator(_moment)]


class UserLogin(EventModel):
    """Somebody logged in, or tried to. Meant to be strict."""

    event_type: Literal["user.login"] = "user.login"
    message_id: Identifier | None = None
    user_id: UUID
    ip: Address
    timestamp: Moment
    user_agent: str | None = Field(default=None, max_length=1_024)
    device_id: Identifier | None = None
    success: bool = Field(default=True, strict=True)


class PaymentCallback(EventModel):
    """A payment has a new status. Meant to be passthrough: payment providers send more, and change what they send."""

    event_type: Literal["payment.callback"] = "payment.callback"
    order_id: Identifier
    amount: Annotated[Amount, Field(gt=0)]
    currency: str = Field(default="CNY", pattern="^[A-Z]{3}$")
    status: Literal["SUCCESS", "FAILED", "PENDING"]
    paid_at: Moment | None = None
    transaction_id: Identifier | None = None
