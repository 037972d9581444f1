"""Field report 34: no character is torn at the border of two chunks, with the report's inputs, from engine to person.

The half character in an engine's JSON is in ``tests/engines/test_field_reports.py``.
"""

from __future__ import annotations

import pytest

from tests.support.variations import engine, setting
from tests.support.world import World
from wechat_bridge.errors import SettingsError
from wechat_bridge.flow import deliver, reply
from wechat_bridge.settings import load_settings

FAMILY = "\N{WOMAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
ROOM_BYTES = [1, 4, 7, 11, 14, 17]
"""What is left before the limit: the report's one byte, and room for each part of the emoji, which has 18 bytes."""


@pytest.mark.parametrize("limit_bytes", [64, 16_384])
@pytest.mark.parametrize("room_bytes", ROOM_BYTES)
def test_34_an_emoji_just_before_the_limit_arrives_whole(world: World, limit_bytes: int, room_bytes: int) -> None:
    text = "a" * (limit_bytes - room_bytes) + FAMILY + "b"
    limited = setting(world, "reply", chunk_bytes=limit_bytes, chunk_characters=20_000, pacing_seconds=0.0)
    asking, _ = engine(limited, text)
    asking.receive(asking.text("hello"))
    asking.make_due()
    turn = asking.flush()
    assert turn is not None
    reply.generate_reply(asking.bridge, turn.id)
    deliver.deliver_reply(asking.bridge, turn.id)
    heard = asking.delivered()
    assert "".join(heard) == text
    assert [FAMILY in each for each in heard] == [False, True]
    assert all(len(each.encode("utf-8")) <= limit_bytes for each in heard)


@pytest.mark.parametrize("name", ["CHUNK_BYTES", "CHUNK_CHARACTERS"])
@pytest.mark.parametrize("limit", ["0", "3", "-1", "none"])
def test_34_a_limit_smaller_than_a_character_is_refused_at_start(
    monkeypatch: pytest.MonkeyPatch, name: str, limit: str
) -> None:
    monkeypatch.setenv(f"WECHAT_BRIDGE_REPLY__{name}", limit)
    with pytest.raises(SettingsError, match=f"WECHAT_BRIDGE_REPLY__{name}: .*should be"):
        load_settings()
