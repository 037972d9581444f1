"""Every switch of the simulated server, with its default.

Where public reports contradict each other the switch has one position per report, and the default is the position that
asks more of a client.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class IlinkOptions(BaseModel):
    """One immutable set of switches; a bot may override any of them (`IlinkControl.set_options(bot_id=...)`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # getupdates
    hold_seconds: float = Field(30.0, ge=0, description="how long an idle getupdates is held")
    longpolling_timeout_ms: int = Field(35_000, ge=0, description="the hint sent with every getupdates answer")
    cursor: Literal["strict", "redeliver"] = Field(
        "strict", description="strict: handed out once, never again; redeliver: an older cursor gets the messages again"
    )
    cursor_field: Literal["present", "empty", "absent"] = Field(
        "present", description="how get_updates_buf looks in answers"
    )
    batch_limit: int = Field(100, ge=1, description="most messages in one getupdates answer")
    notice_disconnect: bool = Field(
        True, description="end a poll when its connection closes; off: hold on, and lose the next batch into it"
    )
    second_poller: Literal["steal", "end_first"] = Field(
        "steal", description="two polls at once: each takes what it gets first, or the older one is answered empty"
    )
    duplicate_after_seconds: float | None = Field(
        None, ge=0, description="deliver every message a second time after so long, with a new context token"
    )
    ids_as: Literal["number", "string"] = Field("number", description="how message ids are written in JSON")

    # tokens and login
    require_app_headers: bool = Field(False, description="answer -14 to requests without the iLink-App-* headers")
    stale_token_shape: Literal["errcode", "ret", "both"] = Field("errcode", description="where the -14 stands")
    rebind_invalidates: bool = Field(True, description="a new login of a WeChat user ends that user's older token")
    rebind_ends_open_poll: bool = Field(True, description="the older token's open poll is answered -14 at once")
    bot_token_lifetime_seconds: float | None = Field(None, gt=0, description="age at which a bot token goes stale")
    bot_token_idle_seconds: float | None = Field(None, gt=0, description="unused for so long, a bot token goes stale")
    qr_hold_seconds: float = Field(30.0, ge=0, description="how long an unchanged QR status is held")
    qr_lifetime_seconds: float = Field(120.0, gt=0, description="age at which a QR code expires")
    verify_attempts: int = Field(3, ge=1, description="wrong verify codes until verify_code_blocked")
    binded_redirect: bool = Field(True, description="answer binded_redirect when local_token_list holds a live token")
    auto_confirm: str | None = Field(
        None,
        description="confirm every new QR code at once, as this WeChat user; 'new' stands for a new user each time",
    )

    # sendmessage
    send_answer: Literal["message_id", "ret_message_id", "ret", "empty"] = Field(
        "message_id", description="shape of success: {message_id}, {ret:0, message_id}, {ret:0} or {}"
    )
    deliver_sends: bool = Field(True, description="off: sends are accepted but the user never sees them (risk control)")
    dedupe_client_id: bool = Field(False, description="answer a repeated client_id with its first id, show it once")
    refusal_field: Literal["ret", "errcode", "both"] = Field(
        "ret", description="where the code of a refused send stands"
    )
    refusal_errmsg: str = Field("prepare failed", description="errmsg of -2; empty leaves it out")
    check_context_token: bool = Field(True, description="refuse sends whose context token is missing or not known")
    context_token_lifetime_seconds: float | None = Field(None, gt=0, description="age at which a context token dies")
    sends_per_token: int | None = Field(10, ge=0, description="sends accepted for one context token; none: no limit")
    reply_window_seconds: float = Field(86_400.0, gt=0, description="sends are taken so long after the user wrote")
    after_window: Literal["refuse", "discard"] = Field(
        "refuse", description="after the reply window: -2, or success without delivery"
    )
    text_limit_bytes: int = Field(16_384, ge=1, description="longest text of one send, in UTF-8 bytes")
    burst_limit: int | None = Field(
        None, ge=1, description="sends accepted within burst_window_seconds; none: no limit"
    )
    burst_window_seconds: float = Field(1.0, gt=0, description="length of the burst window")
    burst_penalty_seconds: float = Field(60.0, ge=0, description="how long every send is refused after a burst")
    burst_penalty_grows: bool = Field(True, description="each send during the penalty adds another penalty")
    burst_code: int = Field(-2, lt=0, description="code of a send refused by the burst throttle; -13 is also seen")

    # media
    upload_answer: Literal["full_url", "param", "both"] = Field("full_url", description="what getuploadurl answers")

    # the record
    poll_log_size: int = Field(1_000, ge=1, description="polls remembered per bot")
    first_message_id: int | None = Field(None, ge=1, description="id of the first message; none: from the clock")

    def changed(self, changes: dict[str, Any]) -> IlinkOptions:
        """The same switches with some changed.

        Raises:
            pydantic.ValidationError: a name or a value is not one of this class.
        """
        return IlinkOptions.model_validate({**self.model_dump(), **changes})
