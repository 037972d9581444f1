"""Every switch of the simulated server, with its default.

Where documents and reports contradict each other the switch has one position per source; the default is what the
documents say today or, where they are silent, the position that asks more of a client.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class WecomOptions(BaseModel):
    """One immutable set of switches."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # callbacks
    callback_attempts: int = Field(3, ge=1, description="deliveries of one callback in total, when none is accepted")
    callback_timeout_seconds: float = Field(5.0, gt=0, description="how long an answer to a callback may take")
    callback_pause_seconds: float = Field(0.0, ge=0, description="pause before a callback is sent again")
    callback_retry_on: Literal["failure", "no_answer"] = Field(
        "failure", description="repeat after anything but an acceptance, or only without any HTTP answer"
    )
    callback_keep_alive: bool = Field(False, description="keep the connections to callback URLs open")
    url_check_seconds: float = Field(1.0, gt=0, description="how long an answer to the URL check may take")

    # access tokens
    token_lifetime_seconds: int = Field(7_200, ge=1, description="validity of an access token (expires_in)")
    token_renewal: Literal["same", "rotate"] = Field(
        "same", description="gettoken while a token is valid: the same again, or a new one that ends the old one"
    )
    wrong_secrets_until_ban: int = Field(5, ge=1, description="wrong secrets until gettoken is refused for an hour")
    gettoken_per_hour: int | None = Field(None, ge=1, description="gettoken calls per address; none: no limit")

    # message/send
    user_per_minute: int = Field(30, ge=1, description="messages shown to one person in a minute; surplus is discarded")
    user_per_hour: int = Field(1_000, ge=1, description="messages shown to one person in an hour")
    app_per_day: int | None = Field(None, ge=1, description="person-times of one app in a day, then 45009; none: any")
    calls_per_minute: int | None = Field(10_000, ge=1, description="calls of one corp to one API, then 45009")
    concurrent_calls: int | None = Field(None, ge=1, description="open calls of one corp to one API, then 45033")
    over_long_text: Literal["cut", "refuse"] = Field(
        "cut", description="text above 2,048 bytes: cut without a word, or 45002"
    )
    refuse_escapes: bool = Field(True, description="answer 40033 to \\u escapes of what could stand there as UTF-8")

    # customer service
    kf_page_size: int = Field(1_000, ge=1, description="most messages of one sync_msg page, whatever was asked for")
    kf_empty_pages: int = Field(0, ge=0, description="empty pages with has_more=1 before each page with messages")
    kf_pulls_without_token: int = Field(10, ge=1, description="sync_msg calls without event token in a minute")
    kf_over_limit: Literal["event", "refuse"] = Field(
        "event", description="a 6th message, or one after 48 h: accepted and failed by msg_send_fail, or refused"
    )

    # every call
    call_seconds: float = Field(0.0, ge=0, description="how long every call of qyapi takes")
    source_ip: str | None = Field(None, description="the address every caller seems to have; none: the real one")

    def changed(self, changes: dict[str, Any]) -> WecomOptions:
        """The same switches with some changed.

        Raises:
            pydantic.ValidationError: a name or a value is not one of this class.
        """
        return WecomOptions.model_validate({**self.model_dump(), **changes})
