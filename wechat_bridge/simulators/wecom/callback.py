"""One callback to an app's URL: what it says, how it misbehaves, and what became of each attempt."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wechat_bridge.simulators.json_types import Json

Envelope = Literal["plain", "dtd", "oversized", "not_xml", "no_encrypt", "two_encrypts", "empty"]
_numbers = count(1)


class Knobs(BaseModel):
    """How a callback departs from a plain one."""

    model_config = ConfigDict(extra="forbid")

    delay_seconds: float = Field(0.0, ge=0, description="wait before the first attempt")
    attempts: int | None = Field(None, ge=1, description="deliveries in total; none: as the server's switch says")
    drop: int = Field(0, ge=0, description="so many first attempts are lost on the way, as without an answer")
    duplicates: int = Field(0, ge=0, description="more deliveries although it was accepted")
    at_once: bool = Field(False, description="deliver the duplicates in the same moment as the first")
    identical: bool = Field(False, description="the same random bytes, nonce and timestamp in every attempt")
    wrong_signature: bool = Field(False, description="sign with another token")
    receive_id: str | None = Field(None, description="encrypt for this receiver instead of the corp")
    age_seconds: float = Field(0.0, description="how old the timestamp of the query is")
    pad: int | None = Field(None, ge=1, le=32, description="lengthen the document until so many bytes are padded")
    envelope: Envelope = Field("plain", description="what the body is instead of a plain envelope")
    inner_dtd: bool = Field(False, description="let the decrypted document begin with an entity bomb")


@dataclass
class Attempt:
    """One delivery. `status` 0: no HTTP answer. `shown` is the passive reply a person saw, if one came."""

    number: int
    at: float
    seconds: float = 0.0
    status: int = 0
    outcome: str = ""
    accepted: bool = False
    nonce: str = ""
    timestamp: str = ""
    shown: Json | None = None

    def as_json(self) -> Json:
        """All of it."""
        return dict(vars(self))


@dataclass
class Callback:
    """A message or event on its way. `state`: ``pending``, ``accepted``, ``given_up``, or ``no_url``."""

    app: str
    fields: Json
    knobs: Knobs
    attempts: list[Attempt] = field(default_factory=list)
    state: str = "pending"
    over: bool = False
    callback_id: str = field(default_factory=lambda: f"cb-{next(_numbers)}")

    def as_json(self) -> Json:
        """All of it, MsgId as text; `over` is true once no further attempt follows."""
        fields = {name: str(value) if name == "MsgId" else value for name, value in self.fields.items()}
        return {
            "callback_id": self.callback_id,
            "app": self.app,
            "fields": fields,
            "state": self.state,
            "over": self.over,
            "attempts": [attempt.as_json() for attempt in self.attempts],
        }
