"""Every setting, in reading order, read from the environment and checked at start.

A name in the environment is ``WECHAT_BRIDGE_`` plus the field in capitals, with ``__`` before the field of a group
(``WECHAT_BRIDGE_POLL__POLLS_PER_TASK``). The few names that the field knows stand without the prefix (``REDIS_URL``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict
from pydantic_settings import SettingsError as UnreadableSetting

from wechat_bridge.errors import SettingsError
from wechat_bridge.model.access import AccessSettings
from wechat_bridge.model.engine import BreakerSettings, EngineName, EngineSettings
from wechat_bridge.model.media import ORIGIN_PATTERN

PREFIX = "WECHAT_BRIDGE_"
PUBLIC_ADDRESS = r"https?://[^/@?#\s\\]+(/[^@?#\s\\]*)?"


class PollSettings(BaseModel):
    """The poll chain."""

    polls_per_task: int = Field(default=8, ge=1, le=1000, description="polls that one Celery task may serve")
    empty_poll_delay_seconds: float = Field(default=10.0, ge=0, description="least time between two empty polls")
    failure_delay_seconds: float = Field(default=10.0, ge=0, description="wait after a failed poll")
    failure_limit: int = Field(default=5, ge=1, description="failures within the window that stop a channel")
    failure_window_seconds: int = Field(default=300, ge=1, description="counted from the first failure")
    probe_first_seconds: float = Field(default=30.0, gt=0, description="wait before the first probe")
    probe_most_seconds: float = Field(default=300.0, gt=0, description="longest wait between probes")
    default_hold_seconds: float = Field(default=35.0, gt=0, description="hold of a poll before WeChat gave a hint")
    total_deadline_seconds: float = Field(default=120.0, gt=0, description="a poll is cut after this, whatever drips")
    suspect_after: int = Field(default=3, ge=1, description="contentless answers in a row that make a login suspect")
    jitter: float = Field(default=0.2, ge=0, lt=1, description="share by which delays vary")


class DebounceSettings(BaseModel):
    """How messages of one person are merged into one turn."""

    idle_seconds: float = Field(default=1.0, ge=0, description="quiet time that ends a turn; 0: every answer is one")
    most_windows: int = Field(default=5, ge=1, description="latest deadline, in idle windows")
    most_messages: int = Field(default=20, ge=1, description="messages that end the wait")
    most_waiting: int = Field(
        default=100, ge=1, le=10_000, description="questions of one person that may wait behind a turn; more fail"
    )

    @property
    def most_seconds(self) -> float:
        """The longest a message waits for others."""
        return self.idle_seconds * self.most_windows


class ReplySettings(BaseModel):
    """Asking the engine and sending the answer."""

    engine_deadline_seconds: float = Field(default=300.0, gt=0, description="whole time of one engine call")
    max_retries: int = Field(default=3, ge=0, description="retries after the first attempt, engine and sends apart")
    retry_base_seconds: float = Field(default=2.0, gt=0, description="first step of the exponential backoff")
    sends_per_message: int = Field(default=10, ge=1, description="sends WeChat allows for one inbound message")
    context_lifetime_seconds: float = Field(default=86_400, gt=0, description="sends WeChat allows for so long")
    chunk_characters: int = Field(default=2_000, ge=16, description="longest chunk in characters")
    chunk_mode: Literal["length", "newline"] = Field(
        default="length", description="newline: every paragraph is a message of its own, where the send budget allows"
    )
    chunk_bytes: int = Field(default=16_384, ge=64, description="longest chunk in UTF-8 bytes")
    pacing_seconds: float = Field(default=0.6, ge=0, description="least time between two sends of one account")
    most_releases: int = Field(default=3, ge=1, description="refused releases that make a parked turn a dead letter")
    notices_per_day: int = Field(default=5, ge=0, description="messages nobody asked for, of one account")
    human_seconds: float = Field(default=3_600.0, gt=0, description="a human who took over answers for so long")
    apology: str = Field(
        default="抱歉，暂时无法回复，请稍后再试。", description="what a person reads when a turn is given up"
    )
    overflow_text: str = Field(
        default="消息太多，后面的消息没有处理，请稍后再发。",
        description="what a person reads, once, whose messages are too many to wait; empty: nothing",
    )


class LoginSettings(BaseModel):
    """Logging accounts in by QR code."""

    api_base: str = Field(
        default="https://ilinkai.weixin.qq.com", pattern="^https?://", description="where QR codes come from"
    )
    hosts: str = Field(
        default="*.weixin.qq.com",
        description="hosts, comma separated, that a login may lead to; *. before a name: every host below it",
    )
    whole_seconds: float = Field(default=480.0, gt=0, description="time for a login in all; its state lives so long")
    question_seconds: float = Field(default=5.0, gt=0, le=35, description="how long WeChat may hold one question")
    most_at_once: int = Field(default=6, ge=1, description="logins that one process asks about at the same time")

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """The hosts one by one."""
        return tuple(filter(None, map(str.strip, self.hosts.split(","))))


class OwnerSettings(BaseModel):
    """When a process counts as alive. Tests of takeover shorten nothing here: the figures are promises."""

    beat_seconds: float = Field(default=2.0, gt=0, description="how often a process writes that it is alive")
    dead_after_seconds: float = Field(default=8.0, gt=0, description="not seen for so long: others take over")
    steady_seconds: float = Field(default=10.0, gt=0, description="ledger reached without a gap, before judging others")
    stale_after_seconds: float = Field(default=5.0, gt=0, description="own beat older than this: start nothing")


class SweepSettings(BaseModel):
    """The safety net under the doorbells."""

    ring_again_seconds: float = Field(default=15.0, gt=0, description="no second ring for one thing before this")
    ring_most_seconds: float = Field(default=300.0, gt=0, description="rings thin out to this")
    ceiling: int = Field(default=500, ge=1, description="doorbells waiting in one queue that stop further rings")

    def again_seconds(self, rings: int) -> float:
        """Return after how long one thing is rung for again that was rung for so often: twice as long each time."""
        return min(self.ring_most_seconds, self.ring_again_seconds * 2.0 ** min(rings, 10))


class InboxSettings(BaseModel):
    """How long messages are kept."""

    retention_days: int = Field(default=7, ge=1, description="raw bodies of finished messages")
    memory_days: int = Field(default=30, ge=1, description="ids and texts of both directions")


class MediaSettings(BaseModel):
    """Pictures, voices, films and documents, in and out."""

    most_bytes: int = Field(default=100 * 1024 * 1024, ge=1, description="largest file, in and out")
    fetch_seconds: float = Field(
        default=60.0, gt=0, description="whole time for what one turn brings, before its engine"
    )
    upload_seconds: float = Field(default=120.0, gt=0, description="whole time of one upload, its repeats included")
    origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=("https://*.weixin.qq.com",),
        description="where media may be fetched from and sent to, comma separated; :* stands for every port",
    )
    cdn_base_url: str = Field(
        default="https://novac2c.cdn.weixin.qq.com/c2c", description="the CDN, where WeChat gives a parameter only"
    )
    folder: Path | None = Field(default=None, description="a folder instead of MongoDB, where one host runs everything")
    link_seconds: int = Field(
        default=3_600, ge=60, le=7 * 86_400,
        description="how long an engine may read a link; engines look again at what stands earlier in a conversation",
    )  # fmt: skip

    @field_validator("origins", mode="before")
    @classmethod
    def _split_origins(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("origins")
    @classmethod
    def _known_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(re.fullmatch(ORIGIN_PATTERN, origin, re.ASCII) for origin in value):
            raise ValueError("should be addresses like https://host, https://*.host or http://host:port")
        return value


class DeadLetterSettings(BaseModel):
    """When dead letters that wait for somebody are an alert."""

    most_waiting: int = Field(default=20, ge=1, description="more than these of one channel: an alert")
    most_hours: float = Field(default=24.0, gt=0, description="one that waits longer: an alert")


class Settings(BaseSettings):
    """The whole configuration of one process."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_nested_delimiter="__", extra="ignore", frozen=True)

    redis_url: str = Field(
        default="redis://127.0.0.1:6379/0", validation_alias=AliasChoices("redis_url", "REDIS_URL"), repr=False
    )
    mongodb_url: str = Field(
        default="mongodb://127.0.0.1:27017/wechat_bridge",
        validation_alias=AliasChoices("mongodb_url", "MONGODB_URL"),
        repr=False,
    )
    channel_concurrency: int = Field(
        default=1000,
        ge=10,
        le=5000,
        validation_alias=AliasChoices("channel_concurrency", "WECHAT_CHANNEL_CONCURRENCY"),
        description="open polls of one poll worker",
    )
    reply_concurrency: int = Field(
        default=100,
        ge=1,
        le=5000,
        validation_alias=AliasChoices("reply_concurrency", "WECHAT_REPLY_CONCURRENCY"),
        description="turns that one reply worker works on at once",
    )
    secret_keys: Annotated[tuple[SecretStr, ...], NoDecode] = Field(
        default=(), description="Fernet keys, comma separated: the first encrypts credentials, all decrypt"
    )
    stop_grace_seconds: float = Field(default=60.0, gt=0, description="SIGTERM: open polls may end by themselves")
    start_wait_seconds: float = Field(default=30.0, gt=0, description="how long to wait for Redis and MongoDB at start")
    web_port: int = Field(default=8400, ge=1, le=65535)
    public_base_url: str = Field(
        default="",
        validation_alias=AliasChoices("public_base_url", "PUBLIC_BASE_URL"),
        description="where engines reach the web process, as in https://bridge.example.com; none: no links to media",
    )
    log_format: str = Field(default="json", pattern="^(json|console)$")
    log_level: str = Field(default="INFO", pattern="^(DEBUG|INFO|WARNING|ERROR)$")
    poll: PollSettings = PollSettings()
    debounce: DebounceSettings = DebounceSettings()
    reply: ReplySettings = ReplySettings()
    login: LoginSettings = LoginSettings()
    owner: OwnerSettings = OwnerSettings()
    sweep: SweepSettings = SweepSettings()
    inbox: InboxSettings = InboxSettings()
    dead_letters: DeadLetterSettings = DeadLetterSettings()
    media: MediaSettings = MediaSettings()
    breaker: BreakerSettings = BreakerSettings()
    access: AccessSettings = AccessSettings()
    engines: dict[EngineName, EngineSettings] = Field(
        default_factory=dict, description="reply engines by name: one JSON object, or __NAME__FIELD for each value"
    )

    @field_validator("secret_keys", mode="before")
    @classmethod
    def _split_keys(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("public_base_url")
    @classmethod
    def _known_public_address(cls, value: str) -> str:
        address = value.strip().rstrip("/")
        if address and not re.fullmatch(PUBLIC_ADDRESS, address):
            raise ValueError("should be an address like https://bridge.example.com, without user, ? or #")
        return address

    @field_validator("redis_url")
    @classmethod
    def _known_redis_scheme(cls, value: str) -> str:
        if not value.startswith(("redis://", "rediss://", "unix://")):
            raise ValueError("should start with redis://, rediss:// or unix:// (Redis Cluster is not supported)")
        return value

    @field_validator("mongodb_url")
    @classmethod
    def _known_mongodb_scheme(cls, value: str) -> str:
        if not value.startswith(("mongodb://", "mongodb+srv://")):
            raise ValueError("should start with mongodb:// or mongodb+srv://")
        return value


def load_settings(**values: Any) -> Settings:
    """Read the settings from the environment; ``values`` win over it.

    Raises SettingsError, naming each variable and what it should be.
    """
    try:
        return Settings(**values)
    except ValidationError as error:
        raise SettingsError("\n".join(_explain(dict(row)) for row in error.errors())) from None
    except UnreadableSetting as error:
        name = PREFIX + str(error).partition('"')[2].partition('"')[0].upper()
        raise SettingsError(
            f"{name}: should be a JSON object. Set the environment variable {name} accordingly."
        ) from None


@lru_cache(maxsize=1)
def settings() -> Settings:
    """Return the settings of this process, read once."""
    return load_settings()


def _explain(row: Mapping[str, Any]) -> str:
    path = [str(part) for part in row["loc"]]
    if path[0] == "engines":
        path = [*path[:2], *path[3:]]  # the third names the kind, which is in no variable
    name = _variable(path)
    return f"{name}: {row['msg'].removeprefix('Value error, ')}. Set the environment variable {name} accordingly."


def _variable(path: list[str]) -> str:
    """Return the name of a setting in the environment; those that the field knows stand without the prefix."""
    field = Settings.model_fields.get(path[0].lower())
    if field is not None and isinstance(field.validation_alias, AliasChoices):
        return str(field.validation_alias.choices[-1])
    return PREFIX + "__".join(path).upper()


def data_dir() -> Path:
    """Return the folder of data, logs and the secret key of ``up`` and ``demo``; WECHAT_BRIDGE_DATA_DIR moves it."""
    return Path(os.environ.get(PREFIX + "DATA_DIR") or Path.home() / ".wechat-bridge")
