"""An app of WeCom, a server that answers for WeCom, and the real token store on a real Redis."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from tests.channels.scripted_server import ScriptedServer
from tests.channels.wecom.fake import FakeWecom
from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.wecom.api import WecomApi
from wechat_bridge.model.wecom import WecomAccount, WecomSecrets, WecomSettings, account_of
from wechat_bridge.store import broker
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.wecom_media_ids import WecomMediaIds
from wechat_bridge.store.wecom_tokens import WecomTokens

SECRET = "s3cr3t-of-the-app-0123456789abcdefghij"
TOKEN = "QDG6eK"
AES_KEY = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
_corps = count(1)


@pytest.fixture(scope="session")
def redis_client(redis_url: str) -> Iterator[RedisClient]:
    """A Redis; every test has a corp of its own in it."""
    with broker.connect(redis_url) as client:
        yield client


@pytest.fixture
def fake(server: ScriptedServer) -> FakeWecom:
    """What answers for WeCom."""
    return FakeWecom(server)


@pytest.fixture
def settings(server: ScriptedServer) -> WecomSettings:
    """The app's settings."""
    return WecomSettings(corp_id=f"wwtest{next(_corps)}", agent_id=218, api_base_url=server.url)


@pytest.fixture
def account(settings: WecomSettings) -> WecomAccount:
    """The app as its doors need it."""
    return account_of(settings, WecomSecrets(secret=SECRET, token=TOKEN, encoding_aes_key=AES_KEY))


@pytest.fixture
def tokens(redis_client: RedisClient) -> WecomTokens:
    """The token store of one process."""
    return WecomTokens(redis_client)


@pytest.fixture
def media_ids(redis_client: RedisClient) -> WecomMediaIds:
    """The ids of uploaded files."""
    return WecomMediaIds(redis_client)


@pytest.fixture
def api(http: HttpClient, tokens: WecomTokens, fake: FakeWecom) -> WecomApi:
    """The API as one process calls it."""
    return WecomApi(http, tokens)
