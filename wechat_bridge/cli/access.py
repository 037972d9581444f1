"""`wechat-bridge access ...`: who may talk to a channel, and when a human answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer

from wechat_bridge.cli.console import print_fields, print_json, print_table, tell
from wechat_bridge.cli.session import connected, valid_share_id, who
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.people import access_admin as admin
from wechat_bridge.flow.people.transcript import Line, transcript
from wechat_bridge.model.access import Policy

T = TypeVar("T")

app = typer.Typer(no_args_is_help=True, help="Say who may talk to a channel and how much, and answer by hand.")

ShareId = Annotated[str, typer.Argument(parser=valid_share_id, metavar="SHARE_ID", help="The channel.")]
UserId = Annotated[str, typer.Argument(metavar="USER_ID", help="The WeChat user: ...@im.wechat")]
Json = Annotated[bool, typer.Option("--json", help="Machine readable.")]


@app.command(name="list")
def list_persons(share_id: ShareId, as_json: Json = False) -> None:
    """Show whom a channel answers, the codes that wait, who is muted and where a human answers."""
    with connected() as wired:
        found = admin.overview(wired.bridge, share_id)
    if as_json:
        print_json(found)
        return
    persons = found.pop("persons")
    print_fields(found)
    if persons:
        print_table(("USER_ID", "STANDING", "CODE", "STATE", "BY", "SINCE"), [_as_row(each) for each in persons])


@app.command()
def policy(share_id: ShareId, policy: Annotated[Policy, typer.Argument(help="Whom it answers.")]) -> None:
    """Answer everybody (open), those let in (allowlist), those and approved codes (pairing), or nobody (disabled)."""
    _do(lambda bridge: admin.set_policy(bridge, share_id, policy, who()))
    tell(f"channel {share_id}: {policy.value}, from the next message on")


@app.command()
def limit(
    share_id: ShareId,
    per_minute: Annotated[int | None, typer.Option(min=0, help="Messages of one person a minute; 0: any.")] = None,
    per_day: Annotated[int | None, typer.Option(min=0, help="Messages of one person in 24 hours; 0: any.")] = None,
) -> None:
    """Limit what one person may send; who sends more is told once."""
    _do(lambda bridge: admin.set_limits(bridge, share_id, per_minute, per_day, who()))
    tell(f"the limits of channel {share_id} are changed")


@app.command()
def allow(share_id: ShareId, user_id: UserId) -> None:
    """Let a person in."""
    _do(lambda bridge: admin.allow(bridge, share_id, user_id, who()))
    tell(f"{user_id} is let in")


@app.command()
def deny(share_id: ShareId, user_id: UserId) -> None:
    """Answer a person nothing any more, whatever the policy."""
    _do(lambda bridge: admin.deny(bridge, share_id, user_id, who()))
    tell(f"{user_id} is denied")


@app.command()
def forget(share_id: ShareId, user_id: UserId) -> None:
    """Take back that a person was let in or denied: the policy alone counts."""
    _do(lambda bridge: admin.forget(bridge, share_id, user_id, who()))
    tell(f"nothing is decided about {user_id} any more")


@app.command()
def approve(share_id: ShareId, code: Annotated[str, typer.Argument(help="The code that the person was told.")]) -> None:
    """Let in whoever was told a pairing code; they are told, and their next message is answered."""
    user_id = _do(lambda bridge: admin.approve(bridge, share_id, code, who()))
    tell(f"{user_id} is let in: their next message is answered")


@app.command()
def mute(share_id: ShareId, user_id: UserId) -> None:
    """Answer a person nothing until `unmute`; what they write is kept."""
    _do(lambda bridge: admin.set_muted(bridge, share_id, user_id, True, who()))
    tell(f"{user_id} is muted")


@app.command()
def unmute(share_id: ShareId, user_id: UserId) -> None:
    """Answer a person again."""
    _do(lambda bridge: admin.set_muted(bridge, share_id, user_id, False, who()))
    tell(f"{user_id} is answered again")


@app.command()
def human(share_id: ShareId, user_id: UserId) -> None:
    """Take a conversation over from the engine; answer with `wechat-bridge send`."""
    _do(lambda bridge: admin.set_human(bridge, share_id, user_id, True, who()))
    tell(f'the engine is silent; answer: wechat-bridge send {share_id} {user_id} "..."')
    tell(
        f"it goes on by itself when you have been silent for a while, or: wechat-bridge access bot {share_id} {user_id}"
    )


@app.command()
def bot(share_id: ShareId, user_id: UserId) -> None:
    """Give a conversation back to the engine."""
    _do(lambda bridge: admin.set_human(bridge, share_id, user_id, False, who()))
    tell(f"the engine answers {user_id} again")


@app.command()
def show(
    share_id: ShareId,
    user_id: UserId,
    most: Annotated[int, typer.Option("--limit", min=1, help="The last so many messages.")] = 20,
    as_json: Json = False,
) -> None:
    """Show what was said in a conversation, and why what was not answered was not."""
    with connected() as wired:
        lines = transcript(wired.bridge, share_id, user_id, most)
    if as_json:
        print_json(
            [{"at": each.at.isoformat(), "who": each.who, "text": each.text, "note": each.note} for each in lines]
        )
    elif lines:
        print_table(("AT", "WHO", "TEXT", "STATE"), [_as_line(each) for each in lines])
    else:
        tell(f"nothing is kept of what {user_id} said to channel {share_id}")


def _do(act: Callable[[Bridge], T]) -> T:
    with connected() as wired:
        return act(wired.bridge)


def _as_row(person: dict[str, Any]) -> tuple[str, ...]:
    human = f"human until {person['human_until']}" if "human_until" in person else ""
    state = ", ".join(filter(None, ["muted" if person["muted"] else "", human]))
    columns = (person["standing"], person.get("code"), state, person["by"], person["at"])
    return (person["user_id"], *(value or "-" for value in columns))


def _as_line(line: Line) -> tuple[str, ...]:
    return line.at.strftime("%m-%d %H:%M:%S"), line.who, line.text, line.note
