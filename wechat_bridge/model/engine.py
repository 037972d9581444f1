"""How an operator describes a reply engine: one model per kind, chosen by ``kind``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

URL_PATTERN = r"^https?://[^/@?#\s]+([/?#]\S*)?$"
"""Without user and password: those would not be sent."""

NAME_PATTERN = "^[a-z0-9][a-z0-9_-]{0,31}$"
TAKEN = "echo"


def _printable(secret: SecretStr) -> SecretStr:
    """Take away what an editor left around a key; what no header can carry is refused at start."""
    text = secret.get_secret_value().strip()
    if not (text.isascii() and (text.isprintable() or not text)):
        raise ValueError("should be letters, digits and signs of ASCII only")
    return SecretStr(text)


def _filled(secret: SecretStr) -> SecretStr:
    if not secret.get_secret_value():
        raise ValueError("should not be empty")
    return secret


def _free(name: str) -> str:
    if name == TAKEN:
        raise ValueError(f"{TAKEN} is the engine that repeats what it is told; choose another name")
    return name


OptionalKey = Annotated[SecretStr, AfterValidator(_printable)]
Key = Annotated[SecretStr, AfterValidator(_printable), AfterValidator(_filled)]


class BreakerSettings(BaseModel):
    """When an engine that fails is left alone for a while, by all workers, for each engine apart."""

    failures: int = Field(
        default=5, ge=1, description="failures in a row that stop the calls; never more than one turn's attempts"
    )
    open_seconds: float = Field(default=5.0, gt=0, description="first pause; then one turn tries")
    open_most_seconds: float = Field(
        default=60.0, gt=0, description="pauses double up to this while the tries fail; also the most of a Retry-After"
    )


class LimitedEngine(BaseModel):
    """What all engines have in common."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_concurrency: int = Field(default=0, ge=0, description="calls at once by all workers together; 0: any number")


class ServedEngine(LimitedEngine):
    """What engines behind HTTP have in common."""

    silence_seconds: float = Field(default=120.0, gt=0, description="longest silence between two pieces of a stream")


class OpenAiEngineSettings(ServedEngine):
    """Any server that speaks OpenAI's chat completions: DeepSeek, Qwen, vLLM, Ollama and many more."""

    kind: Literal["openai"]
    base_url: str = Field(default="https://api.openai.com/v1", pattern=URL_PATTERN, description="up to before /chat")
    api_key: OptionalKey = Field(default=SecretStr(""), description="none for most servers of one's own")
    model: str = Field(min_length=1)
    system_prompt: str = ""
    history_turns: int = Field(default=10, ge=0, description="earlier turns that go along, at most")
    history_tokens: int = Field(default=4_000, ge=0, description="and at most so many tokens of them, estimated")
    stream: bool = Field(default=True, description="read the answer as it is written, so that a slow one is seen alive")
    vision: bool = Field(default=False, description="the model understands pictures")
    pictures: Literal["inline", "link"] = Field(
        default="inline", description="how they go along; link keeps requests small, and needs PUBLIC_BASE_URL"
    )
    extra: dict[str, Any] = Field(
        default_factory=dict, description="more of the request, say temperature; null removes"
    )


class FastGptEngineSettings(ServedEngine):
    """An app of FastGPT; its conversations remember by themselves."""

    kind: Literal["fastgpt"]
    base_url: str = Field(pattern=URL_PATTERN, description="up to before /v1, as in https://api.fastgpt.in/api")
    api_key: Key
    app_id: str = Field(default="", description="for keys of an account, from 4.15 on")
    stream: bool = True
    detail: bool = Field(default=False, description="ask for the whole record of a workflow")
    variables: dict[str, Any] = Field(default_factory=dict, description="globals of the workflow")


class DifyEngineSettings(ServedEngine):
    """An app of Dify; it gives each conversation an id."""

    kind: Literal["dify"]
    base_url: str = Field(default="https://api.dify.ai/v1", pattern=URL_PATTERN)
    api_key: Key
    stream: bool = Field(default=True, description="agents know nothing else")
    files: bool = Field(default=False, description="the app takes files")
    inputs: dict[str, Any] = Field(default_factory=dict)


class WebhookEngineSettings(ServedEngine):
    """A URL of one's own that gets each turn as JSON and returns the answer."""

    kind: Literal["webhook"]
    url: str = Field(pattern=URL_PATTERN)
    secret: Key = Field(description="signs each request")
    most_media_bytes: int = Field(default=10 * 1024 * 1024, ge=0, description="of one turn's media that go along")


class TaskEngineSettings(LimitedEngine):
    """A Celery task of one's own, on the same Redis."""

    kind: Literal["task"]
    task: str = Field(min_length=1, description="its name")
    queue: str = Field(min_length=1, description="the queue that its worker reads")
    most_media_bytes: int = Field(default=1024 * 1024, ge=0, description="of one turn's media that go along, in Redis")


EngineSettings = Annotated[
    OpenAiEngineSettings | FastGptEngineSettings | DifyEngineSettings | WebhookEngineSettings | TaskEngineSettings,
    Field(discriminator="kind"),
]
EngineName = Annotated[str, Field(pattern=NAME_PATTERN), AfterValidator(_free)]
