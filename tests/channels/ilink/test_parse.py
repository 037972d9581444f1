from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wechat_bridge.channels.ilink.lenient import compact, loads
from wechat_bridge.channels.ilink.parse import LARGEST_MESSAGE_CHARACTERS, parse_message
from wechat_bridge.model.message import InboundMessage, InboxState, Item, ItemKind

NOW = datetime(2026, 9, 22, tzinfo=UTC)
SENT_MS = 1790000001000
SENT_AT = datetime(2026, 9, 21, 14, 13, 21, tzinfo=UTC)
ADA = "oTESTuser0000000000000000001@im.wechat"


def message(**changes: Any) -> dict[str, Any]:
    return {
        "seq": 1,
        "message_id": 7461203398120011001,
        "from_user_id": ADA,
        "to_user_id": "a1b2c3d4e5f6@im.bot",
        "client_id": "wx-1",
        "create_time_ms": SENT_MS,
        "message_type": 1,
        "message_state": 2,
        "context_token": "Q1RYLT1",
        "item_list": [{"type": 1, "text_item": {"text": "hello"}}],
        **changes,
    }


def parsed(**changes: Any) -> InboundMessage:
    return parse_message(message(**changes), NOW)


def test_a_text_is_read_whole() -> None:
    assert parsed() == InboundMessage(
        message_id="7461203398120011001",
        user_id=ADA,
        items=(Item(kind=ItemKind.TEXT, text="hello"),),
        context_token="Q1RYLT1",
        seq=1,
        sent_at=SENT_AT,
        raw=json.dumps(message(), separators=(",", ":")),
    )


@pytest.mark.parametrize(
    ("changes", "state", "reason"),
    [
        ({"message_type": 2}, InboxState.SKIPPED, "own message"),
        ({"message_type": "2"}, InboxState.SKIPPED, "own message"),
        ({"message_type": 2, "item_list": None}, InboxState.SKIPPED, "own message"),
        ({"message_type": None}, InboxState.PENDING, ""),
        ({"message_type": [2]}, InboxState.PENDING, ""),
        ({"item_list": None}, InboxState.FAILED, "no items"),
        ({"item_list": [{"type": 99}]}, InboxState.FAILED, "unknown item type 99"),
        ({"from_user_id": None}, InboxState.FAILED, "no usable from_user_id"),
        ({"from_user_id": ""}, InboxState.FAILED, "no usable from_user_id"),
        ({"from_user_id": "\x00 "}, InboxState.FAILED, "no usable from_user_id"),
        ({"from_user_id": ["u"]}, InboxState.FAILED, "no usable from_user_id"),
        ({"from_user_id": "u" * 257}, InboxState.FAILED, "no usable from_user_id"),
        ({"item_list": [{"type": 3, "voice_item": {}}]}, InboxState.PENDING, ""),
    ],
)
def test_what_is_not_to_be_answered_says_why(changes: dict[str, Any], state: InboxState, reason: str) -> None:
    made = parsed(**changes)
    assert (made.state, made.reason) == (state, reason)


def test_a_message_from_nobody_belongs_to_an_unknown_person() -> None:
    assert parsed(from_user_id=None).user_id == "unknown"


@pytest.mark.parametrize(
    ("value", "sent_at"),
    [
        (SENT_MS, SENT_AT),
        (SENT_MS // 1000, SENT_AT),
        (str(SENT_MS), SENT_AT),
        (float(SENT_MS), SENT_AT),
        (0, None),
        (None, None),
        (-1, None),
        (-SENT_MS, None),
        ("", None),
        ("yesterday", None),
        (True, None),
        ([], None),
        (10**30, None),
        (1293839999000, None),
        (1293840000000, datetime(2011, 1, 1, tzinfo=UTC)),
        (int(NOW.timestamp() * 1000) + 86_400_000, datetime(2026, 9, 23, tzinfo=UTC)),
        (int(NOW.timestamp() * 1000) + 86_401_000, None),
    ],
)
def test_a_time_is_utc_or_unknown(value: object, sent_at: datetime | None) -> None:
    assert parsed(create_time_ms=value).sent_at == sent_at


def test_without_a_clock_given_this_machines_clock_counts() -> None:
    now_ms = int(datetime.now(UTC).timestamp() * 1000)
    assert parse_message(message(create_time_ms=now_ms)).sent_at is not None
    assert parse_message(message(create_time_ms=now_ms + 2 * 86_400_000)).sent_at is None


@pytest.mark.parametrize(
    ("value", "seq"),
    [(41, 41), ("41", 41), (-1, -1), (2**63 - 1, 2**63 - 1), (2**63, 0), (10**30, 0), (None, 0), ("x", 0), (1.5, 0)],
)
def test_a_sequence_number_fits_the_ledger(value: object, seq: int) -> None:
    assert parsed(seq=value).seq == seq


@pytest.mark.parametrize(("value", "token"), [("Q1=", "Q1="), (None, ""), ([], ""), (7, ""), ("a\ud83d", "a�")])
def test_a_context_token_is_text(value: object, token: str) -> None:
    assert parsed(context_token=value).context_token == token


def test_a_text_is_stored_as_valid_characters_and_the_raw_message_as_it_was_written() -> None:
    body = rb'{"from_user_id":"u","item_list":[{"type":1,"text_item":{"text":"\ud83dok\u0001"}}],"x":1.50,"y":1E400}'
    made = parse_message(loads(body), NOW)
    assert made.items == (Item(kind=ItemKind.TEXT, text="�ok"),)
    assert made.raw.encode() == body


@pytest.mark.parametrize("odd", [None, "text", 7, True, [], [{}], 1.5])
def test_what_is_no_object_is_kept_with_a_reason(odd: object) -> None:
    made = parse_message(odd, NOW)
    assert (made.state, made.user_id, made.raw) == (InboxState.FAILED, "unknown", json.dumps(odd))
    assert made.reason.startswith("not an object")
    assert made.message_id.startswith("fp-")


def test_a_message_too_large_for_the_ledger_is_kept_by_its_beginning() -> None:
    made = parsed(item_list=[{"type": 1, "text_item": {"text": "x" * LARGEST_MESSAGE_CHARACTERS}}])
    assert (made.message_id, made.user_id, made.state) == ("7461203398120011001", ADA, InboxState.FAILED)
    assert made.reason.startswith("message too large")
    assert len(made.raw) == LARGEST_MESSAGE_CHARACTERS


FIELDS = [
    "seq",
    "message_id",
    "from_user_id",
    "client_id",
    "create_time_ms",
    "message_type",
    "context_token",
    "item_list",
]
PARTS = ["type", "text_item", "voice_item", "image_item", "file_item", "video_item", "ref_msg", "msg_id", "text"]
PARTS += ["file_name", "message_item", "title", "svr_id", "partial_text", "start", "startindex", "quotemd5"]
ATOMS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([0, 1, 2, 3, 4, 5, 8, 11, 99, SENT_MS, 10**30, 2**64, 10**400])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=()), max_size=20)
)
ANYTHING = st.recursive(
    ATOMS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(PARTS) | st.text(), inner, max_size=4),
    max_leaves=15,
)
ALMOST_MESSAGES = st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=8)


@settings(deadline=None, max_examples=300)
@given(ANYTHING | ALMOST_MESSAGES)
def test_whatever_comes_in_something_storable_and_explained_comes_out(value: object) -> None:
    wire = json.dumps(value).encode()
    made = parse_message(loads(wire), NOW)
    assert made == parse_message(loads(wire), NOW)
    assert made.model_dump_json().encode("utf-8")
    assert compact(loads(made.raw.encode("utf-8"))) == made.raw
    assert made.message_id
    assert made.user_id
    assert (made.state is InboxState.PENDING) == (made.reason == "")
    assert -(2**63) <= made.seq < 2**63
