"""An app of WeCom as a channel: how it behaves, what it keeps secret, and the two together as its doors need them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import urlsplit, urlunsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from wechat_bridge.model.channel import Account

API_BASE_URL = "https://qyapi.weixin.qq.com"
_PROXY = re.compile(r"https?://[a-zA-Z0-9.\[\]:-]+/?")
AES_KEY_CHARACTERS = 43
AES_KEY = re.compile(rf"[A-Za-z0-9+/]{{{AES_KEY_CHARACTERS}}}=?")
"""An EncodingAESKey: 32 bytes in base64, with or without the sign that ends it."""

_BASE_URL = re.compile(r"https?://[a-zA-Z0-9.\[\]:-]+(/[a-zA-Z0-9._~/-]*)?")


def _plain_proxy(text: str) -> str:
    if text and not _PROXY.fullmatch(text):
        raise ValueError("should be http://host:port; a name and password belong into proxy_login, which is encrypted")
    return text


def _plain_address(text: str) -> str:
    if not _BASE_URL.fullmatch(text):
        raise ValueError("should be an address like https://qyapi.weixin.qq.com, without a query")
    return text


def _aes_key(text: str) -> str:
    written = text.strip()
    if not AES_KEY.fullmatch(written):
        size = f"{AES_KEY_CHARACTERS} letters and digits and has {len(written)} characters"
        raise ValueError(f"should be {size}; copy it again at WeCom")
    return written


class WecomSettings(BaseModel):
    """What an operator decides about a channel of kind ``wecom``; stands in its ``settings``, holds no secret.

    ``agent_id`` is the app's AgentId. ``proxy`` is the fixed way out whose address stands under 企业可信IP,
    ``api_base_url`` another server for private deployments. ``welcome_text`` answers the events in ``welcome_events``
    ("": nothing does; ``enter_agent`` comes with every look into the app). ``clicks`` says which menu clicks are
    questions: none, all (the menu's key is the question), or those of a table from key to question.
    ``freshness_seconds`` is how old, or ahead, a callback may be; 0: any age. With ``markdown`` texts go out as WeCom's
    markdown, which people who use the app within WeChat (微工作台) are not shown; else as plain texts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    corp_id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    agent_id: int = Field(ge=0)
    proxy: Annotated[str, AfterValidator(_plain_proxy)] = ""
    api_base_url: Annotated[str, AfterValidator(_plain_address)] = API_BASE_URL
    welcome_text: str = ""
    welcome_events: frozenset[str] = frozenset({"subscribe"})
    clicks: bool | dict[str, str] = False
    freshness_seconds: int = Field(default=300, ge=0)
    markdown: bool = False

    @property
    def account_id(self) -> str:
        """The name of what the channel speaks for, which no other corp's has."""
        return f"{self.corp_id}:{self.agent_id}"


class WecomSecrets(BaseModel):
    """What has to be sealed: the app's Secret, Token and EncodingAESKey, and ``name:password`` of the proxy."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    secret: str = Field(repr=False, min_length=1)
    token: str = Field(repr=False, min_length=1)
    encoding_aes_key: Annotated[str, AfterValidator(_aes_key)] = Field(repr=False)
    proxy_login: str = Field(default="", repr=False)


class WecomAccount(Account):
    """An app as its doors need it. ``token`` is the app's Secret, ``callback_token`` what WeCom calls Token.

    ``proxy`` may hold a password, so it is as secret as the rest.
    """

    corp_id: str
    agent_id: int
    callback_token: str = Field(repr=False)
    encoding_aes_key: str = Field(repr=False)
    proxy: str = Field(default="", repr=False)
    markdown: bool = False

    @property
    def secrets(self) -> tuple[str, ...]:
        """What may stand in no text that people read."""
        return self.token, self.callback_token, self.encoding_aes_key

    @property
    def mark(self) -> str:
        """Tells this secret at this server from others, and gives neither away."""
        return hashlib.sha256(f"{self.base_url}\n{self.token}".encode()).hexdigest()[:16]


def account_of(settings: WecomSettings, secrets: WecomSecrets) -> WecomAccount:
    """Put together what a channel's doors need."""
    return WecomAccount(
        token=secrets.secret,
        account_id=settings.account_id,
        base_url=settings.api_base_url,
        corp_id=settings.corp_id,
        agent_id=settings.agent_id,
        callback_token=secrets.token,
        encoding_aes_key=secrets.encoding_aes_key,
        proxy=_with_login(settings.proxy, secrets.proxy_login),
        markdown=settings.markdown,
    )


def _with_login(proxy: str, login: str) -> str:
    if not proxy or not login:
        return proxy
    parts = urlsplit(proxy)
    return urlunsplit(parts._replace(netloc=f"{login}@{parts.netloc}"))


@dataclass(frozen=True, slots=True)
class AccessToken:
    """What ``gettoken`` answered: the token, and for how long it is good."""

    token: str = field(repr=False)
    expires_in_seconds: int
