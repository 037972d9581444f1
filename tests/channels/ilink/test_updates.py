from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.channels.leaks import everything_said_by
from wechat_bridge.channels.base import PollAnswer
from wechat_bridge.channels.ilink.updates import parse_updates
from wechat_bridge.errors import PlatformUnavailable, SessionExpired
from wechat_bridge.model.message import InboxState, Item, ItemKind, Quote

NOW = datetime(2026, 9, 22, tzinfo=UTC)
ADA = "oTESTuser0000000000000000001@im.wechat"
BOB = "oTESTuser0000000000000000002@im.wechat"
FIRST_ID = 7461203398120011000

LINES = [json.loads(line) for line in (Path(__file__).parent / "ilink-updates.jsonl").read_text("utf-8").splitlines()]
FIXTURES: dict[str, bytes] = {line["name"]: json.dumps(line["response"]).encode() for line in LINES}


def text(words: str, quote: Quote | None = None) -> Item:
    return Item(kind=ItemKind.TEXT, text=words, quote=quote)


# name -> (number of each message after FIRST_ID, its sender, its state, its items), the cursor
READ: dict[str, tuple[list[tuple[int, str, str, tuple[Item, ...]]], str | None]] = {
    "one text": ([(1, ADA, "", (text("hello"),))], "QlVGMQ=="),
    "same message again, new context token": ([(1, ADA, "", (text("hello"),))], "QlVGMg=="),
    "two users, three messages": (
        [
            (2, ADA, "", (text("first"),)),
            (3, BOB, "", (text("from another"),)),
            (4, ADA, "", (text("second"),)),
        ],
        "QlVGMw==",
    ),
    "id as string, item length as string": (
        [(777, ADA, "", (Item(kind=ItemKind.FILE, label="plan.pdf"),))],
        "QlVGNQ==",
    ),
    "voice with transcript": (
        [(8, ADA, "", (Item(kind=ItemKind.VOICE, text="turn on the light"),))],
        "QlVGNg==",
    ),
    "voice without transcript": ([(9, ADA, "", (Item(kind=ItemKind.VOICE),))], "QlVGNw=="),
    "image, hex key on the item": ([(10, ADA, "", (Item(kind=ItemKind.IMAGE),))], "QlVGOA=="),
    "image without any key or address": (
        [(11, ADA, "", (Item(kind=ItemKind.IMAGE), text("what is this?")))],
        "QlVGOQ==",
    ),
    "video": ([(12, ADA, "", (Item(kind=ItemKind.VIDEO),))], "QlVGMTA="),
    "quote with content": ([(13, ADA, "", (text("why?", Quote(text="the server is down")),))], "QlVGMTE="),
    "quote with type 8 and no content": ([(14, ADA, "", (text("and this?", Quote()),))], "QlVGMTI="),
    "quote with only svr_id and partial text": (
        [
            (
                15,
                ADA,
                "",
                (
                    text(
                        "why that one?",
                        Quote(
                            message_id="7461203398120011001",
                            excerpt_start="hel",
                            excerpt_end="lo",
                            excerpt_md5="5d41402abc4b2a76b9719d911017c592",
                        ),
                    ),
                ),
            )
        ],
        "QlVGMTM=",
    ),
    "unknown item types, null parts, own message, then a good text": (
        [
            (16, ADA, "no items", ()),
            (17, ADA, "no items", ()),
            (18, ADA, "no items", ()),
            (19, ADA, "unknown item type 99", (Item(kind=ItemKind.UNKNOWN),)),
            (20, ADA, "empty text", ()),
            (21, ADA, "empty text", ()),
            (22, ADA, "tool progress (item type 11)", (Item(kind=ItemKind.UNKNOWN),)),
            (23, ADA, "own message", (text("me"),)),
            (24, "unknown", "no usable from_user_id", (text("nobody"),)),
            (25, ADA, "", (text("good"),)),
        ],
        "QlVGMTQ=",
    ),
    "emoji, a lone surrogate, control characters": ([(27, ADA, "", (text("👩‍👩‍👧 ok "),))], "QlVGMTY="),
    "idle poll": ([], "QlVGMTY="),
    "ret missing, no messages": ([], "QlVGMTc="),
    "empty object": ([], None),
    "empty cursor": ([], None),
}


@pytest.mark.parametrize("name", READ)
def test_answers_in_the_shapes_users_have_seen(name: str) -> None:
    expected, cursor = READ[name]
    answer = parse_updates(FIXTURES[name], now=NOW)
    assert [(m.message_id, m.user_id, m.reason, m.items) for m in answer.messages] == [
        (str(FIRST_ID + number), user_id, reason, items) for number, user_id, reason, items in expected
    ]
    assert answer.cursor == cursor
    assert answer.suspect == (name == "empty object")
    for message in answer.messages:
        assert message.state is {"": InboxState.PENDING, "own message": InboxState.SKIPPED}.get(
            message.reason, InboxState.FAILED
        )
        assert message.sent_at is not None
        assert message.context_token.startswith(("Q1RYLT", "TkVX"))


def test_neighbouring_ids_beyond_2_to_53_stay_two() -> None:
    answer = parse_updates(FIXTURES["ids beyond 2^53, adjacent"], now=NOW)
    assert [message.message_id for message in answer.messages] == ["9007199254740992", "9007199254740993"]


def test_a_message_without_id_has_the_same_fingerprint_twice() -> None:
    first, second = parse_updates(FIXTURES["no message_id, twice the same"], now=NOW).messages
    assert first.message_id == second.message_id
    assert first.message_id.startswith("fp-")


@pytest.mark.parametrize("name", ["session expired in errcode only", "session expired in ret only"])
def test_an_ended_session_is_recognised_in_either_code(name: str) -> None:
    with pytest.raises(SessionExpired, match="log the channel in again"):
        parse_updates(FIXTURES[name])


def test_another_api_error_says_its_code_and_message() -> None:
    with pytest.raises(PlatformUnavailable, match=r"code -1 \(system busy\)"):
        parse_updates(FIXTURES["another API error"])


def test_no_fixture_is_left_out() -> None:
    apart = {
        "ids beyond 2^53, adjacent",
        "no message_id, twice the same",
        "session expired in errcode only",
        "session expired in ret only",
        "another API error",
    }
    assert set(READ) | apart == set(FIXTURES)


def body(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def test_the_published_example_with_a_quote_and_a_voice() -> None:
    published = rb"""{"ret":0,"msgs":[
 {"seq":41,"message_id":7461203398120011777,"from_user_id":"oTESTuser0000000000000000001@im.wechat",
  "to_user_id":"a1b2c3d4e5f6@im.bot","client_id":"wx-c-0041","create_time_ms":1790000000123,
  "update_time_ms":1790000000123,"session_id":"s-1","message_type":1,"message_state":2,"context_token":"Q1RYLTQx",
  "item_list":[{"type":1,"create_time_ms":1790000000123,"is_completed":true,"text_item":{"text":"why that one?"},
   "ref_msg":{"svr_id":7461203398120011001,"partial_text":{"start":"blue","end":"door","startindex":0,"endindex":0,
    "quotemd5":"0f1e2d3c4b5a69788796a5b4c3d2e1f0"}}}]},
 {"seq":42,"message_id":7461203398120011778,"from_user_id":"oTESTuser0000000000000000001@im.wechat",
  "to_user_id":"a1b2c3d4e5f6@im.bot","create_time_ms":1790000004000,"message_type":1,"message_state":2,
  "context_token":"Q1RYLTQy","item_list":[{"type":3,"voice_item":{"media":{"encrypt_query_param":"ZHdu",
   "aes_key":"MDAxMTIyMzM0NDU1NjY3Nzg4OTlhYWJiY2NkZGVlZmY=","encrypt_type":1},"encode_type":4,"bits_per_sample":16,
   "sample_rate":16000,"playtime":2380,"text":"turn on the light"}}]}],
 "sync_buf":"","get_updates_buf":"Q1VSU09SLTQy","longpolling_timeout_ms":35000}"""
    answer = parse_updates(published, now=NOW)
    question, voice = answer.messages
    assert (answer.cursor, answer.hold_hint_seconds, answer.suspect) == ("Q1VSU09SLTQy", 35.0, False)
    assert question.items[0].quote is not None
    assert question.items[0].quote.message_id == "7461203398120011001"
    assert voice.items == (Item(kind=ItemKind.VOICE, text="turn on the light"),)
    assert '"message_id":7461203398120011778' in voice.raw


@pytest.mark.parametrize(
    ("fields", "suspect"),
    [
        ({}, True),
        ({"ret": 0}, True),
        ({"get_updates_buf": ""}, True),
        ({"msgs": None, "get_updates_buf": None}, True),
        ({"get_updates_buf": "B8"}, False),
        ({"msgs": [], "get_updates_buf": ""}, False),
        ({"msgs": [], "get_updates_buf": "B8"}, False),
    ],
)
def test_an_answer_with_neither_messages_nor_cursor_is_suspect(fields: dict[str, Any], suspect: bool) -> None:
    assert parse_updates(body(**fields)).suspect is suspect


@pytest.mark.parametrize("cursor", [None, "", 7, True, ["B"], {"b": 1}, "\ud83d"])
def test_a_cursor_that_is_no_text_is_none(cursor: object) -> None:
    assert parse_updates(body(msgs=[], get_updates_buf=cursor)).cursor is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (35000, 35.0),
        ("35000", 35.0),
        (35000.5, 35.0005),
        (500, 0.5),
        (10**9, 100.0),
        (10**400, None),
        (0, None),
        (-1, None),
        (None, None),
        ("soon", None),
        (True, None),
        ([], None),
    ],
)
def test_the_hold_is_taken_only_where_it_makes_sense(value: object, seconds: float | None) -> None:
    assert parse_updates(body(msgs=[], longpolling_timeout_ms=value)).hold_hint_seconds == seconds


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"<html><body>524: A timeout occurred</body></html>",
        b"[]",
        b"null",
        b'"ok"',
        b'{"ret":0,"msgs":[',
        b"[" * 100_000,
        b'{"ret":"fine"}',
        b'{"errcode":[]}',
        b'{"ret":true}',
    ],
)
def test_what_is_no_answer_is_a_failure_of_the_platform(broken: bytes) -> None:
    with pytest.raises(PlatformUnavailable, match="getupdates"):
        parse_updates(broken)


@pytest.mark.parametrize(
    "fields", [{"ret": "-14"}, {"ret": -14, "errcode": 0}, {"ret": -1, "errcode": -14}, {"ret": -14.0}]
)
def test_minus_14_counts_wherever_and_however_it_is_written(fields: dict[str, Any]) -> None:
    with pytest.raises(SessionExpired):
        parse_updates(body(**fields))


@pytest.mark.parametrize("fields", [{"ret": "0"}, {"ret": None, "errcode": None}, {"errcode": 0}, {"ret": 0.0}])
def test_no_code_or_0_is_no_failure(fields: dict[str, Any]) -> None:
    assert parse_updates(body(**fields, msgs=[], get_updates_buf="B")) == PollAnswer(cursor="B")


@pytest.mark.parametrize("msgs", [[None], ["x"], "x", {"message_id": 7}, 7])
def test_entries_that_are_no_messages_are_kept_as_failed_and_the_cursor_moves(msgs: object) -> None:
    answer = parse_updates(body(msgs=msgs, get_updates_buf="B2"))
    assert [message.state for message in answer.messages] == [InboxState.FAILED]
    assert answer.cursor == "B2"


def test_one_broken_byte_does_not_cost_the_other_messages() -> None:
    good = FIXTURES["two users, three messages"]
    answer = parse_updates(good.replace(b'"first"', b'"fi\xffst"'), now=NOW)
    assert [message.items[0].text for message in answer.messages] == ["fi�st", "from another", "second"]


def test_a_token_that_the_server_repeats_is_not_told() -> None:
    token = "a1b2@im.bot:0600"
    answer = body(ret=-3, errmsg=f"bad token {token}\n")
    with pytest.raises(PlatformUnavailable) as caught:
        parse_updates(answer, secrets=[token, ""])
    assert token not in everything_said_by(caught.value)
    assert "code -3 (bad token ***)" in str(caught.value)
