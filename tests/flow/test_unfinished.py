"""Steps that ledger or broker refused are taken as soon as they can be, each once."""

from __future__ import annotations

from collections.abc import Callable

from wechat_bridge.errors import BrokerUnavailable, DocumentInvalid, LedgerUnavailable
from wechat_bridge.flow.unfinished import Unfinished


class Log:
    """Steps that note that they were taken, and fail as often as told."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    def step(self, name: str, *errors: Exception) -> Callable[[], None]:
        """A step that fails with each of the errors before it succeeds."""
        left = list(errors)

        def take() -> None:
            self.taken.append(name)
            if left:
                raise left.pop(0)

        return take


def test_a_step_is_tried_until_it_succeeds_and_then_never_again() -> None:
    unfinished, log = Unfinished(), Log()
    unfinished.add("a", log.step("a", LedgerUnavailable("x"), BrokerUnavailable("x")))
    for _ in range(5):
        unfinished.work_off()
    assert log.taken == ["a", "a", "a"]
    assert len(unfinished) == 0


def test_everything_is_done_in_one_pass_once_it_can_be() -> None:
    unfinished, log = Unfinished(), Log()
    for name in "abc":
        unfinished.add(name, log.step(name))
    unfinished.work_off()
    assert log.taken == ["a", "b", "c"]


def test_a_thousand_steps_that_each_wait_for_a_dead_server_cost_one_wait_a_pass() -> None:
    unfinished, log = Unfinished(), Log()
    for number in range(1_000):
        unfinished.add(f"s{number}", log.step(f"s{number}", BrokerUnavailable("x")))
    unfinished.work_off()
    assert log.taken == ["s0"]
    assert len(unfinished) == 1_000


def test_a_step_that_always_fails_does_not_keep_the_others_from_their_turn() -> None:
    unfinished, log = Unfinished(), Log()
    unfinished.add("hopeless", log.step("hopeless", *[LedgerUnavailable("x")] * 9))
    unfinished.add("a", log.step("a"))
    unfinished.add("b", log.step("b"))
    unfinished.work_off()
    unfinished.work_off()
    assert log.taken == ["hopeless", "a", "b", "hopeless"]
    assert len(unfinished) == 1


def test_the_newest_step_of_a_name_counts() -> None:
    unfinished, log = Unfinished(), Log()
    unfinished.add("chain", log.step("old"))
    unfinished.add("chain", log.step("new"))
    unfinished.work_off()
    assert log.taken == ["new"]


def test_a_step_may_be_made_of_the_one_that_waits_and_keeps_its_place() -> None:
    unfinished, log = Unfinished(), Log()
    assert unfinished.get("chain") is None
    first = log.step("first")
    unfinished.change("chain", lambda step: first if step is None else step)
    unfinished.add("a", log.step("a"))
    unfinished.change("chain", lambda step: log.step("both") if step is first else first)
    unfinished.work_off()
    assert log.taken == ["both", "a"]


def test_a_step_replaced_while_it_is_taken_stays() -> None:
    unfinished, log = Unfinished(), Log()
    unfinished.add("chain", lambda: unfinished.add("chain", log.step("new")))
    unfinished.work_off()
    unfinished.work_off()
    assert log.taken == ["new"]
    assert len(unfinished) == 0


def test_what_can_never_succeed_is_given_up_and_the_rest_goes_on() -> None:
    unfinished, log = Unfinished(), Log()
    unfinished.add("broken", log.step("broken", DocumentInvalid("x")))
    unfinished.add("a", log.step("a"))
    unfinished.work_off()
    assert log.taken == ["broken", "a"]
    assert len(unfinished) == 0
