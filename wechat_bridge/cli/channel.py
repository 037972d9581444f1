"""`wechat-bridge channel ...`: the accounts that the bridge serves."""

from __future__ import annotations

from typing import Annotated

import typer

from wechat_bridge.cli import login
from wechat_bridge.cli.channel_view import as_fields, as_row
from wechat_bridge.cli.console import print_fields, print_json, print_table, tell
from wechat_bridge.cli.session import connected, valid_share_id
from wechat_bridge.errors import ChannelUnknown, NotConfigured
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.switch import log_out, remove, switch
from wechat_bridge.model.access import AccessRules, Policy
from wechat_bridge.model.channel import Channel

app = typer.Typer(no_args_is_help=True, help="Add, log in, show and switch the WeChat accounts that the bridge serves.")

ShareId = Annotated[
    str, typer.Argument(parser=valid_share_id, metavar="SHARE_ID", help="Name: 1 to 32 of a-z, 0-9 and hyphen.")
]
Json = Annotated[bool, typer.Option("--json", help="Machine readable.")]


@app.command()
def add(
    share_id: ShareId,
    name: Annotated[str, typer.Option(help="What people call it.")] = "",
    engine: Annotated[str, typer.Option(help="Which reply engine answers.")] = "echo",
) -> None:
    """Add a channel for a personal WeChat account; log it in afterwards with `channel login`."""
    with connected() as wired:
        bridge = wired.bridge
        if engine not in bridge.engines:
            raise NotConfigured(f"there is no engine {engine}; there are: {', '.join(sorted(bridge.engines))}")
        rules = AccessRules(policy=Policy.PAIRING)
        now = bridge.clock.now()
        bridge.channels.add(Channel(id=share_id, name=name, engine=engine, access=rules, created_at=now))
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
        print_table(("SHARE_ID", "NAME", "STATUS", "ENGINE", "LAST POLL", "LAST MESSAGE"), list(map(as_row, channels)))
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
