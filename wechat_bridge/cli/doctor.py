"""`wechat-bridge doctor`: what keeps a channel from working, and what to change where."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

import typer

from wechat_bridge.cli.console import print_json, print_table, tell
from wechat_bridge.cli.session import connected, valid_share_id
from wechat_bridge.errors import NotConfigured
from wechat_bridge.flow.channel.switch import unknown
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.doctor.look import Asked, Diagnosis, diagnose
from wechat_bridge.flow.health.check import Check
from wechat_bridge.model.channel import Channel, ChannelKind

MEMBER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}", re.ASCII)
"""A UserID of WeCom; what stands for several people (``@all``, ``a|b``) is none."""


def one_member(value: str) -> str:
    """Return a UserID. Raises BadParameter, a usage error."""
    if not MEMBER.fullmatch(value):
        raise typer.BadParameter(f"{value!r} should be the 账号 of one member, as 通讯录 shows it")
    return value


def doctor(
    share_id: Annotated[
        str | None, typer.Argument(parser=valid_share_id, metavar="SHARE_ID", help="One channel; none: all.")
    ] = None,
    user: Annotated[
        str | None, typer.Option(parser=one_member, metavar="USER", help="May this member of WeCom see the app?")
    ] = None,
    send_to: Annotated[
        str | None, typer.Option(parser=one_member, metavar="USER", help="Send this member a test message, too.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine readable.")] = False,
) -> None:
    """Look channels over and say what to change where; the exit code is 1 when something has to be changed.

    For an app of WeCom: the callback URL, the keys, the trusted address, the visible range. Nothing is changed.
    """
    if (user or send_to) and share_id is None:
        raise typer.BadParameter("name the channel to which --user or --send-to belongs")
    asked = Asked(send_to or user or "", send=bool(send_to))
    with connected() as wired:
        channels = _chosen(wired.bridge, share_id)
        if asked.user_id and channels[0].kind is not ChannelKind.WECOM:
            raise NotConfigured(f"channel {share_id} is no app of WeCom; --user and --send-to are about its members")
        found = [diagnose(wired.bridge, wired.http, channel, asked) for channel in channels]
    if as_json:
        print_json([each.model_dump(mode="json") for each in found])
    else:
        _show(found)
    raise typer.Exit(0 if all(each.ok for each in found) else 1)


def _chosen(bridge: Bridge, share_id: str | None) -> Sequence[Channel]:
    if share_id is None:
        return bridge.channels.all()
    channel = bridge.channels.get(share_id)
    if channel is None:
        raise unknown(share_id)
    return [channel]


def _show(found: Sequence[Diagnosis]) -> None:
    if not found:
        tell("there are no channels yet; add one: wechat-bridge channel add SHARE_ID")
        return
    rows = [(each.share_id, _mark(check), check.name, check.detail) for each in found for check in each.checks]
    print_table(("CHANNEL", "", "CHECK", "DETAIL"), rows)


def _mark(check: Check) -> str:
    if check.ok:
        return "ok"
    return "look" if check.warning else "problem"
