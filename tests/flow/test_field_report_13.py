"""Field report 13: a voice message without a transcript has a visible outcome, and its row ends."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.world import World

MEDIA = {"encrypt_query_param": "x", "aes_key": "MDAxMTIyMzM0NDU1NjY3Nzg4OTlhYWJiY2NkZGVlZmY="}


@pytest.mark.parametrize("said", [{}, {"text": ""}, {"text": None}, {"text": "turn on the light"}])
def test_a_voice_with_or_without_its_words_is_answered_and_handled(quick: World, said: dict[str, Any]) -> None:
    voice = {"encode_type": 6, "playtime": 3460, "media": MEDIA, **said}
    quick.control.send_items(quick.bot_id, quick.user(), [{"type": 3, "voice_item": voice}])
    quick.poll()
    quick.make_due()
    turn = quick.flush()
    assert turn is not None
    answered = quick.answer(turn)
    assert answered.state == "sent"
    (heard,) = quick.delivered()
    assert heard == said["text"] if said.get("text") else "语音" in heard
    rows = quick.bridge.inbox.of_turn(turn.id)
    assert [row.state for row in rows] == ["done"]
