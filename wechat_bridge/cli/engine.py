"""`wechat-bridge engine ...`: the reply engines, without WeChat."""

from __future__ import annotations

import secrets
import time
from typing import Annotated, Any

import typer

from wechat_bridge.cli.console import print_json, print_table, tell
from wechat_bridge.cli.engine_view import COLUMNS, described
from wechat_bridge.cli.session import connected, valid_share_id
from wechat_bridge.engines.base import Answer, Engine, Question
from wechat_bridge.errors import ChannelUnknown, NotConfigured
from wechat_bridge.flow.context import Bridge

app = typer.Typer(no_args_is_help=True, help="Try the engines that answer.")


@app.callback()
def engine() -> None:
    """Try the engines that answer."""


@app.command("list")
def show_all(as_json: Annotated[bool, typer.Option("--json", help="Machine readable.")] = False) -> None:
    """Show the engines, how many ask them, how many wait, and which do not answer.

    It knows the engines of the running `up`, else those of this command's environment.
    """
    with connected() as wired:
        engines = described(wired.bridge)
    if as_json:
        print_json([engine.as_fields() for engine in engines])
    else:
        print_table(COLUMNS, [engine.as_row() for engine in engines])


@app.command("test")
def ask_once(
    share_id: Annotated[str, typer.Argument(parser=valid_share_id, metavar="SHARE_ID", help="The channel.")],
    text: Annotated[str, typer.Argument(help="What to ask.")],
    as_json: Annotated[bool, typer.Option("--json", help="Machine readable.")] = False,
) -> None:
    """Ask the engine of a channel once, without WeChat; print what came back and how long it took.

    It is asked with the settings of the running `up`, else with those of this command's environment, which should then
    be the workers'. Nothing is stored here; an engine that remembers by itself keeps it in a conversation of its own.
    """
    with connected() as wired:
        bridge = wired.bridge
        engine = _engine_of(bridge, share_id)
        started = time.monotonic()
        answer = engine.answer(_question(share_id, text, bridge.settings.reply.engine_deadline_seconds))
        record = _record(engine.name, answer, round((time.monotonic() - started) * 1000))
    if as_json:
        print_json(record | {"text": answer.text, "files": [each.label for each in answer.files]})
        return
    print(answer.text)
    tell(", ".join(f"{name} {value}" for name, value in record.items() if value not in (None, "")))
    if not answer.text and not answer.files:
        tell("the engine says to send nothing")


def _engine_of(bridge: Bridge, share_id: str) -> Engine:
    channel = bridge.channels.get(share_id)
    if channel is None:
        raise ChannelUnknown(f"there is no channel {share_id}; wechat-bridge channel list shows those there are")
    engine = bridge.engines.get(channel.engine)
    if engine is None:
        known = ", ".join(sorted(bridge.engines))
        raise NotConfigured(
            f"channel {share_id} wants the engine {channel.engine!r}; this command knows: {known}. "
            "Give it the workers' settings (WECHAT_BRIDGE_ENGINES...)"
        )
    return engine


def _question(share_id: str, text: str, deadline_seconds: float) -> Question:
    once = f"engine-test-{secrets.token_hex(6)}"
    return Question(f"{once}:{share_id}", share_id, f"wechat_{share_id}_{once}", once, text, deadline_seconds)


def _record(name: str, answer: Answer, elapsed_ms: int) -> dict[str, Any]:
    return {
        "engine": name,
        "model": answer.model,
        "elapsed_ms": elapsed_ms,
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "finish_reason": answer.finish_reason,
    }
