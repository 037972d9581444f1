"""`wechat-bridge channel add --kind wecom`, `channel secret` and `channel app`: an app of WeCom (企业微信)."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from wechat_bridge.cli.console import print_fields, tell
from wechat_bridge.cli.session import connected, valid_share_id, who
from wechat_bridge.errors import ChannelExists, NotConfigured
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.customer_service.channel import add_customer_service
from wechat_bridge.flow.doctor.url import PAGE, callback_url
from wechat_bridge.flow.wecom.app import add_app
from wechat_bridge.flow.wecom.change import change_app, checked, missing_secrets, new_callback_keys
from wechat_bridge.model.channel import ChannelKind
from wechat_bridge.model.wecom import WecomSecrets, WecomSettings
from wechat_bridge.model.wecom_kf import SETTINGS_OF, KfSettings

NAMES = {
    "secret": ("WECOM_SECRET", "Secret"),
    "token": ("WECOM_TOKEN", "Token"),
    "encoding_aes_key": ("WECOM_ENCODING_AES_KEY", "EncodingAESKey"),
    "proxy_login": ("WECOM_PROXY_LOGIN", "name:password of the proxy"),
}
"""The environment variable of each secret, and what it is called in WeCom's console."""

CALLBACK_KEYS = ("token", "encoding_aes_key")

OF_SERVICE = {
    "open_kfid": "--open-kfid",
    "servicer_userid": "--servicer",
    "moves_sessions": "--move-sessions/--keep-sessions",
}
"""Settings of customer service only, and their options."""

PANEL = "An app of WeCom (企业微信)"
ShareId = Annotated[str, typer.Argument(parser=valid_share_id, metavar="SHARE_ID", help="The channel.")]
NewKeys = Annotated[
    bool,
    typer.Option("--new-callback-keys", help="Make Token and EncodingAESKey, to be copied.", rich_help_panel=PANEL),
]
CorpId = Annotated[str | None, typer.Option(help="企业ID, under 我的企业.", rich_help_panel=PANEL)]
AgentId = Annotated[str | None, typer.Option(help="AgentId of the app, under 应用管理.", rich_help_panel=PANEL)]
OpenKfid = Annotated[
    str | None, typer.Option(help="wecom_kf: the account of 微信客服 that the app serves, wk...", rich_help_panel=PANEL)
]
Proxy = Annotated[
    str | None, typer.Option(help="Fixed way out, http://host:port, in 企业可信IP.", rich_help_panel=PANEL)
]
ApiBaseUrl = Annotated[str | None, typer.Option(help="Where a private deployment is.", rich_help_panel=PANEL)]
WelcomeText = Annotated[str | None, typer.Option(help='Said to who comes; "": nothing.', rich_help_panel=PANEL)]
Markdown = Annotated[
    bool | None,
    typer.Option("--markdown/--plain", help="Send as markdown; within WeChat it is not shown.", rich_help_panel=PANEL),
]
Servicer = Annotated[
    str | None,
    typer.Option(help='wecom_kf: UserID of who serves after /human; "": the queue.', rich_help_panel=PANEL),
]
MoveSessions = Annotated[
    bool | None,
    typer.Option(
        "--move-sessions/--keep-sessions",
        help="wecom_kf: after /human people answer in WeCom's client, or by `wechat-bridge send`.",
        rich_help_panel=PANEL,
    ),
]
ProxyLogin = Annotated[
    bool, typer.Option("--proxy-login", help="Ask for name:password of the proxy, too.", rich_help_panel=PANEL)
]


def add(
    bridge: Bridge,
    share_id: str,
    kind: ChannelKind,
    settings: Mapping[str, Any],
    wanted: list[str],
    name: str,
    engine: str,
) -> None:
    """Add a channel for an app, ask for the ``wanted`` secrets, and say what to do next.

    Raises BadParameter, ChannelInvalid, ChannelExists, AccountTaken, NotConfigured and LedgerUnavailable.
    """
    model = SETTINGS_OF[kind]
    _check_given(kind, model, settings)
    chosen = checked(model, settings)
    if bridge.channels.get(share_id) is not None:  # nobody should type secrets for nothing
        raise ChannelExists(f"channel {share_id} exists already; choose another share_id")
    made = {} if "token" in wanted else new_callback_keys()
    secrets = checked(WecomSecrets, made | asked_for(wanted))
    if isinstance(chosen, KfSettings):
        add_customer_service(bridge, share_id, chosen, secrets, name, engine)
    else:
        add_app(bridge, share_id, chosen, secrets, name, engine)
    tell(f"added channel {share_id}")
    _show_next(bridge, share_id, made)


def _check_given(kind: ChannelKind, model: type[WecomSettings], settings: Mapping[str, Any]) -> None:
    needed = [name for name, field in model.model_fields.items() if field.is_required() and name not in settings]
    if needed:
        options = " and ".join(f"--{name.replace('_', '-')}" for name in needed)
        raise typer.BadParameter(f"a channel of kind {kind.value} needs {options}; see 应用管理 at WeCom")
    others = {
        name: option for name, option in OF_SERVICE.items() if name in settings and name not in model.model_fields
    }
    if others:
        raise typer.BadParameter(f"{' and '.join(others.values())} belong to --kind wecom_kf")


def set_secret(
    share_id: ShareId,
    callback_keys: Annotated[bool, typer.Option("--callback-keys", help="Token and EncodingAESKey instead.")] = False,
    new_keys: NewKeys = False,
    proxy_login: ProxyLogin = False,
) -> None:
    """Change the Secret of an app of WeCom, or its Token and EncodingAESKey; what is not asked for stays.

    Each is asked for without echo, or taken from WECOM_SECRET, WECOM_TOKEN, WECOM_ENCODING_AES_KEY and
    WECOM_PROXY_LOGIN, never from an argument. Where none is stored any more, all are asked for.
    """
    wanted = [*(CALLBACK_KEYS if callback_keys else ()), *(["proxy_login"] if proxy_login else [])]
    made = new_callback_keys() if new_keys else {}
    if made and callback_keys:
        raise typer.BadParameter("--new-callback-keys goes not with --callback-keys")
    if not wanted and not made:
        wanted = ["secret"]
    with connected() as wired:
        lost = [name for name in missing_secrets(wired.bridge, share_id) if name not in [*made, *wanted]]
        wanted += lost
        change_app(wired.bridge, share_id, {}, made | asked_for(wanted), who())
        tell(f"channel {share_id}: changed {', '.join(NAMES[name][1] for name in [*made, *wanted])}")
        if made:
            _show_next(wired.bridge, share_id, made)
    tell(f"check it: wechat-bridge doctor {share_id}")


def set_app(
    share_id: ShareId,
    corp_id: CorpId = None,
    agent_id: AgentId = None,
    proxy: Proxy = None,
    api_base_url: ApiBaseUrl = None,
    welcome_text: WelcomeText = None,
    markdown: Markdown = None,
    servicer: Servicer = None,
    move_sessions: MoveSessions = None,
) -> None:
    """Change how an app of WeCom is reached, and its welcome; what is not given stays. Secrets: `channel secret`."""
    given = given_settings(
        corp_id=corp_id, agent_id=agent_id, proxy=proxy, api_base_url=api_base_url, welcome_text=welcome_text,
        markdown=markdown, servicer_userid=servicer, moves_sessions=move_sessions,
    )  # fmt: skip
    if not given:
        raise typer.BadParameter("say what to change; see --help")
    with connected() as wired:
        before = change_app(wired.bridge, share_id, given, {}, who())
    for name, value in given.items():
        tell(f"channel {share_id}: {name}: {_shown(before.settings.get(name))} -> {_shown(value)}")


def given_settings(**values: Any) -> dict[str, Any]:
    """Return the settings that were given."""
    return {name: value for name, value in values.items() if value is not None}


def wanted_secrets(*, make_callback_keys: bool, proxy_login: bool) -> list[str]:
    """Return which secrets a new app needs from the operator."""
    keys = [] if make_callback_keys else list(CALLBACK_KEYS)
    login = ["proxy_login"] if proxy_login or NAMES["proxy_login"][0] in os.environ else []
    return ["secret", *keys, *login]


def _shown(value: object) -> str:
    return "-" if value in (None, "") else str(value)


def asked_for(names: list[str]) -> dict[str, str]:
    """Return secrets from the environment, or else asked for; in no argument, for everybody reads those."""
    return {name: _asked(*NAMES[name]) for name in names}


def _asked(variable: str, label: str) -> str:
    secret = os.environ.get(variable)
    if secret is None and sys.stdin.isatty():
        secret = typer.prompt(label, hide_input=True, err=True)
    secret = (sys.stdin.readline() if secret is None else str(secret)).strip()
    if not secret:
        raise NotConfigured(f"{label} is empty; type it when asked, or set {variable}")
    return secret


def _show_next(bridge: Bridge, share_id: str, made: Mapping[str, str]) -> None:
    """Print what goes into WeCom's console, and say where."""
    url = callback_url(bridge, share_id)
    fields = {"URL": url} if url else {}
    fields |= {NAMES[name][1]: value for name, value in made.items()}
    if fields:
        print_fields(fields)
    if not url:
        tell(
            "PUBLIC_BASE_URL is not set. Set it to the address at which WeCom reaches the web process and start that "
            f"again; the URL is that address with /wecom/{share_id}"
        )
    tell(f"next: enter URL, Token and EncodingAESKey at WeCom under 应用管理 > the app > 接收消息 ({PAGE}), and save")
    tell(f"then: wechat-bridge doctor {share_id}")
