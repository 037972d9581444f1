"""Under interrupt, whatever the order of two workers, the newest is answered and everything ends."""

from __future__ import annotations

import pytest

from tests.flow.test_queue_modes import ENDED, SKIPPED, under
from tests.support.lockstep import FOREVER, Lockstep
from tests.support.variations import door, setting
from tests.support.world import World
from wechat_bridge.model.channel import QueueMode
from wechat_bridge.model.turn import Turn


def interleaved(world: World, first: int, second: int) -> tuple[list[str], list[tuple[str, str]], Turn | None]:
    """Two workers on one conversation in an order: what was sent, how the rows ended, and the turn left open."""
    name = f"u{first}-{second}"
    own, sent = door(setting(world, "debounce", idle_seconds=0.0))
    lockstep = Lockstep(own, [(0, first), (1, second), (0, FOREVER), (1, FOREVER)])
    messages = [own.text(text, name=name) for text in ("m1", "m2", "m3")]
    lockstep.receive(messages[0])
    lockstep.run(lambda: lockstep.receive(messages[1]), lambda: lockstep.receive(messages[2]))
    return sent.texts, [own.row_state(each) for each in messages], own.bridge.turns.open_of(own.chat(name))


@pytest.mark.slow
def test_in_every_order_of_two_workers_the_newest_is_answered_and_everything_ends(world: World) -> None:
    own = under(world, QueueMode.INTERRUPT)
    superseded = 0
    for first, second in [(i, j) for i in range(0, 30, 4) for j in range(1, 30, 7)]:
        sent, rows, left = interleaved(own, first, second)
        assert left is None, (first, second)
        assert set(rows) <= {("done", ""), ENDED, SKIPPED}, (first, second, rows)
        answered = [f"m{number}" for number, row in enumerate(rows, 1) if row == ("done", "")]
        assert {"m2", "m3"} & set(answered), (first, second, rows)
        assert sent[-1].split("\n")[-1] in answered, (first, second, sent, rows)
        assert set(answered) <= set("\n".join(sent).split("\n")), (first, second, sent, rows)
        superseded += 3 - len(answered)
    assert superseded > 15
