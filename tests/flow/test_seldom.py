"""Once in a while, for each key, by whoever asks first."""

from __future__ import annotations

from tests.support.together import together
from wechat_bridge.flow.seldom import Seldom


def test_it_may_happen_once_in_its_time_for_each_key() -> None:
    now = [100.0]
    seldom = Seldom(10.0, clock=lambda: now[0])
    assert [seldom.may("a"), seldom.may("a"), seldom.may("b")] == [True, False, True]
    now[0] += 9.9
    assert not seldom.may("a")
    now[0] += 0.1
    assert [seldom.may("a"), seldom.may("a")] == [True, False]


def test_of_many_who_ask_at_once_one_hears_yes() -> None:
    seldom = Seldom(10.0)
    assert sum(together(8, lambda _: seldom.may("a"))) == 1
