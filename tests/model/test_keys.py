"""Names: the same thing has the same name on every attempt and in every process."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wechat_bridge.model import keys


@pytest.mark.parametrize("text", ["a", "shop-1", "0", "-", "x" * 32])
def test_small_letters_digits_and_hyphens_name_a_channel(text: str) -> None:
    assert keys.is_share_id(text)


@pytest.mark.parametrize(
    "text", ["", "Shop", "shop_1", "shop.1", "x" * 33, "shop\n", " shop", "商店", "a:b", "a/b", "１"]
)
def test_nothing_else_names_a_channel(text: str) -> None:
    assert not keys.is_share_id(text)


def test_ids_read_as_the_design_says() -> None:
    assert keys.chat_id("shop", "o9@im.wechat") == "wechat_shop_o9@im.wechat"
    assert keys.inbox_id("shop", "7461203398120011001") == "shop:7461203398120011001"
    assert keys.turn_id("shop", "7461203398120011001") == "wechat-reply:shop:7461203398120011001"


def test_client_ids_stay_what_they_are() -> None:
    """A release that named chunks otherwise would send again, under another id, what was under way."""
    turn = keys.turn_id("shop", "7001")
    assert keys.client_id(turn, 0) == "wechat-bridge-7085ca0bede3f19711ef4036-0"
    assert keys.client_id(turn, 1) == "wechat-bridge-7085ca0bede3f19711ef4036-1"


share_ids = st.from_regex(r"[a-z0-9-]{1,32}", fullmatch=True)
anything = st.text(min_size=1, max_size=40)


@given(st.lists(st.tuples(share_ids, anything, st.integers(0, 9)), unique=True, max_size=20))
def test_different_things_have_different_names(things: list[tuple[str, str, int]]) -> None:
    pairs = {(share_id, other) for share_id, other, _ in things}
    assert len({keys.inbox_id(*pair) for pair in pairs}) == len(pairs)
    assert len({keys.chat_id(*pair) for pair in pairs}) == len(pairs)
    assert len({keys.turn_id(*pair) for pair in pairs}) == len(pairs)
    names = {keys.client_id(keys.turn_id(share_id, other), number) for share_id, other, number in things}
    assert len(names) == len(things)


def test_owners_claims_and_traces_are_never_the_same_twice() -> None:
    assert len({keys.new_owner("host", 7) for _ in range(200)}) == 200
    assert len({keys.new_token() for _ in range(200)}) == 200
    assert len({keys.new_trace_id() for _ in range(200)}) == 200
    assert len(keys.new_trace_id()) == 32
    assert int(keys.new_trace_id(), 16) > 0
