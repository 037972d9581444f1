"""`wechat-bridge channel ...`: the accounts that the bridge serves."""

from __future__ import annotations

from typing import Annotated

import typer

from wechat_bridge.cli import channel_set, channel_wecom, login
from wechat_bridge.cli.channel_view import as_fields, as_row
from wechat_bridge.cli.console import print_fields, print_json, print_table, tell
from wechat_bridge.cli.session import connected, valid_share_id
from wechat_bridge.errors import ChannelUnknown, NotConfigured
from wechat_bridge.flow.channel.switch import log_out, remove, switch
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.access import AccessRules, Policy
from wechat_bridge.model.channel import Channel, ChannelKind

app = typer.Typer(no_args_is_help=True, help="Add, log in, show and switch the WeChat accounts that the bridge serves.")

ShareId = Annotated[
    str, typer.Argument(parser=valid_share_id, metavar="SHARE_ID", help="Name: 1 to 32 of a-z, 0-9 and hyphen.")
]
Json = Annotated[bool, typer.Option("--json", help="Machine readable.")]


@app.command()
def add(
    share_id: ShareId,
    kind: Annotated[
        ChannelKind,
        typer.Option(help="ilink: a personal account. wecom: an app of a company (企业微信). wecom_kf: 微信客服."),
    ] = ChannelKind.ILINK,
    name: Annotated[str, typer.Option(help="What people call it.")] = "",
    engine: Annotated[str, typer.Option(help="Which reply engine answers.")] = "echo",
    corp_id: channel_wecom.CorpId = None,
    agent_id: channel_wecom.AgentId = None,
    open_kfid: channel_wecom.OpenKfid = None,
    proxy: channel_wecom.Proxy = None,
    api_base_url: channel_wecom.ApiBaseUrl = None,
    welcome_text: channel_wecom.WelcomeText = None,
    markdown: channel_wecom.Markdown = None,
    servicer: channel_wecom.Servicer = None,
    move_sessions: channel_wecom.MoveSessions = None,
    new_callback_keys: channel_wecom.NewKeys = False,
    proxy_login: channel_wecom.ProxyLogin = False,
) -> None:
    """Add a channel: a personal account, logged in afterwards with `channel login`, or an app of WeCom.

    The secrets of an app (Secret, Token, EncodingAESKey) are asked for without echo, or taken from WECOM_SECRET,
    WECOM_TOKEN, WECOM_ENCODING_AES_KEY and WECOM_PROXY_LOGIN, never from an argument.
    """
    settings = channel_wecom.given_settings(
        corp_id=corp_id, agent_id=agent_id, open_kfid=open_kfid, proxy=proxy, api_base_url=api_base_url,
        welcome_text=welcome_text, markdown=markdown, servicer_userid=servicer, moves_sessions=move_sessions,
    )  # fmt: skip
    if kind is ChannelKind.ILINK and (settings or new_callback_keys or proxy_login):
        raise typer.BadParameter("these options belong to an app of WeCom: add --kind wecom")
    wanted = channel_wecom.wanted_secrets(make_callback_keys=new_callback_keys, proxy_login=proxy_login)
    with connected() as wired:
        _check_engine(wired.bridge, engine)
        if kind is ChannelKind.ILINK:
            _add_personal(wired.bridge, share_id, name, engine)
        else:
            channel_wecom.add(wired.bridge, share_id, kind, settings, wanted, name, engine)


def _check_engine(bridge: Bridge, engine: str) -> None:
    if engine not in bridge.engines:
        raise NotConfigured(f"there is no engine {engine}; there are: {', '.join(sorted(bridge.engines))}")


def _add_personal(bridge: Bridge, share_id: str, name: str, engine: str) -> None:
    rules = AccessRules(policy=Policy.PAIRING)
    bridge.channels.add(Channel(id=share_id, name=name, engine=engine, access=rules, created_at=bridge.clock.now()))
    tell(f"added channel {share_id}; next: wechat-bridge channel login {share_id}")
    tell(
        "it answers who scans the code; others get a pairing code to be approved with: "
        f"wechat-bridge access approve {share_id} CODE (everybody: wechat-bridge access policy {share_id} open)"
    )


@app.command(name="list")
def list_channels(as_json: Json = False) -> None:
    """List all channels with their status."""
    with connected() as wired:
        channels = wired.bridge.channels.all()
    if as_json:
        print_json([as_fields(channel) for channel in channels])
    elif channels:
        print_table(
            ("SHARE_ID", "KIND", "NAME", "STATUS", "ENGINE", "LAST POLL OR CALL", "LAST MESSAGE"),
            list(map(as_row, channels)),
        )
    else:
        tell("there are no channels yet; add one: wechat-bridge channel add SHARE_ID")


@app.command()
def show(share_id: ShareId, as_json: Json = False) -> None:
    """Show everything about one channel except its credentials."""
    with connected() as wired:
        fields = as_fields(_existing(wired.bridge, share_id))
    if as_json:
        print_json(fields)
    else:
        print_fields(fields)


@app.command()
def enable(share_id: ShareId) -> None:
    """Let a channel receive again."""
    _switch(share_id, enabled=True)


@app.command()
def disable(share_id: ShareId) -> None:
    """Stop receiving on a channel; its login and its messages are kept."""
    _switch(share_id, enabled=False)


app.command(name="login")(login.login)
app.command(name="set")(channel_set.set_channel)
app.command(name="secret")(channel_wecom.set_secret)
app.command(name="app")(channel_wecom.set_app)


@app.command()
def logout(share_id: ShareId) -> None:
    """Remove a channel's credentials; its messages stay, and replies under way wait for the next login."""
    with connected() as wired:
        log_out(wired.bridge, share_id)
    tell(f"channel {share_id} is logged out and its credentials are removed")


@app.command(name="remove")
def remove_channel(
    share_id: ShareId,
    force: Annotated[bool, typer.Option("--force", help="Also while replies are under way.")] = False,
) -> None:
    """Remove a channel and its credentials; its messages, replies and dead letters stay until they are old."""
    with connected() as wired:
        under_way = remove(wired.bridge, share_id, is_forced=force)
    tell(f"channel {share_id} and its credentials are removed; its messages, replies and dead letters are kept")
    if under_way:
        tell(f"{under_way} replies were under way: they wait for a channel of that name, or become dead letters")


def _switch(share_id: str, enabled: bool) -> None:
    with connected() as wired:
        switch(wired.bridge, share_id, enabled)
    tell(f"channel {share_id} is {'enabled' if enabled else 'disabled'}")


def _existing(bridge: Bridge, share_id: str) -> Channel:
    channel = bridge.channels.get(share_id)
    if channel is None:
        raise ChannelUnknown(f"there is no channel {share_id}; `wechat-bridge channel list` shows those there are")
    return channel
