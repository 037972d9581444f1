"""Every answer that users have seen, fed in order to one channel: what the two people behind it get to see."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.media import at_the_cdn
from tests.support.variations import setting
from tests.support.world import World
from wechat_bridge.flow import turns
from wechat_bridge.flow.login.logged_in import complete_login
from wechat_bridge.model import keys
from wechat_bridge.model.channel import Account, Channel, ChannelStatus, Login, StatusReason
from wechat_bridge.store import redis_keys

_FIXTURE = Path(__file__).parents[1] / "fixtures" / "ilink-updates.jsonl"
LINES = [json.loads(line) for line in _FIXTURE.read_text(encoding="utf-8").split("\n") if line]

FIRST, SECOND = "oTESTuser0000000000000000001@im.wechat", "oTESTuser0000000000000000002@im.wechat"


@dataclass(frozen=True)
class Expected:
    """What follows from one answer: texts for the first and the second person, and reasons of rows not answered."""

    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    fields: dict[str, Any] = field(default_factory=dict)


NOBODY = Expected()
LOGIN_NEEDED = Expected(fields={"status": ChannelStatus.ERROR, "status_reason": StatusReason.LOGIN_NEEDED})

# By the name of the line; the comment is what its "expect" says.
EXPECTED: dict[str, Expected] = {
    # one message, id kept as text
    "one text": Expected(("hello",)),
    # no second answer
    "same message again, new context token": NOBODY,
    # two conversations; U: first, second in order, context of the last
    "two users, three messages": Expected(("first\nsecond",), ("from another",)),
    # two messages, two ids
    "ids beyond 2^53, adjacent": Expected(("a\nb",)),
    # a file, which the CDN does not have
    "id as string, item length as string": Expected(("「文件 plan.pdf 无法读取：文件不存在」",)),
    # text from the transcript
    "voice with transcript": Expected(("turn on the light",)),
    # a visible outcome, never silence
    "voice without transcript": Expected(("「语音无法读取：文件不存在」",)),
    # an image, at a host that is not on this list of origins
    "image, hex key on the item": Expected(("「图片无法读取：下载地址不被允许」",)),
    # the text is answered, the picture marked unreadable
    "image without any key or address": Expected(("「图片无法读取：文件不存在」\nwhat is this?",)),
    # a video
    "video": Expected(("「视频无法读取：文件不存在」",)),
    # quoted text apart from the new text
    "quote with content": Expected(("「引用：the server is down」\nwhy?",)),
    # a marker, no crash
    "quote with type 8 and no content": Expected(("「引用：[无法显示的引用]」\nand this?",)),
    # resolved from the stored message 7461203398120011001: hello
    "quote with only svr_id and partial text": Expected(("「引用：hello」\nwhy that one?",)),
    # only 'good' is asked; the rest stored with reasons; the cursor moves
    "unknown item types, null parts, own message, then a good text": Expected(
        ("good",),
        reasons=(
            "empty text", "empty text", "no items", "no items", "no items", "no usable from_user_id", "own message",
            "tool progress (item type 11)", "unknown item type 99",
        ),
    ),
    # one message
    "no message_id, twice the same": Expected(("hm",)),
    # stored and answered as valid UTF-8
    "emoji, a lone surrogate, control characters": Expected(("\U0001f469\u200d\U0001f469\u200d\U0001f467 ok",)),
    # no work, cursor unchanged
    "idle poll": NOBODY,
    # healthy
    "ret missing, no messages": Expected(fields={"suspect_polls": 0, "status": ChannelStatus.ONLINE}),
    # cursor unchanged, counted as suspect
    "empty object": Expected(fields={"suspect_polls": 1, "status": ChannelStatus.ONLINE}),
    # cursor unchanged
    "empty cursor": Expected(fields={"status": ChannelStatus.ONLINE}),
    # login needed
    "session expired in errcode only": LOGIN_NEEDED,
    "session expired in ret only": LOGIN_NEEDED,
    # counted failure, next poll after 10 s
    "another API error": Expected(fields={"status": ChannelStatus.ONLINE}),
}  # fmt: skip


@dataclass
class Feeding:
    """One channel that is fed one answer after the other."""

    world: World
    seen: dict[str, int]

    def feed(self, response: Any) -> Channel:
        """Let the channel poll this answer, and answer everything that is due."""
        self.world.control.script("getupdates", bot_id=self.world.bot_id, answer=response)
        channel = self.world.poll()
        for user in (FIRST, SECOND):
            self._answer(keys.chat_id(self.world.share_id, user))
        return channel

    def _answer(self, chat_id: str) -> None:
        turns.flush_conversation(self.world.bridge, chat_id)
        turn = self.world.bridge.turns.open_of(chat_id)
        if turn is not None:
            assert self.world.answer(turn).state == "sent"

    def texts(self, user: str) -> tuple[str, ...]:
        """What this person got to see since the last look."""
        found = [row["text"] for row in self.world.control.deliveries(user)]
        new = tuple(found[self.seen[user] :])
        self.seen[user] = len(found)
        return new

    def reasons(self, response: Any) -> tuple[str, ...]:
        """Why messages of an answer were not asked, sorted."""
        ids = [str(message.get("message_id")) for message in response.get("msgs") or []]
        rows = [self.world.bridge.inbox.get(keys.inbox_id(self.world.share_id, each)) for each in ids]
        return tuple(sorted(row.reason for row in rows if row and row.state in ("skipped", "failed")))

    def log_in_again(self) -> None:
        """The person scans anew."""
        bot = self.world.control.create_bot(user_id=self.world.channel.owner_user_id or "")
        self.world.control.set_options(bot["bot_id"], check_context_token=False)
        self.world.bot_id = bot["bot_id"]
        account = Account(token=bot["token"], account_id=bot["bot_id"], base_url=self.world.control.base_url)
        complete_login(self.world.bridge, self.world.share_id, Login(account=account, owner_user_id=bot["user_id"]))


@pytest.fixture
def feeding(world: World) -> Feeding:
    """A channel that answers every answer's messages at once, and whose CDN has none of the files."""
    quick = setting(setting(world, "poll", polls_per_task=1), "debounce", idle_seconds=0.0)
    return Feeding(at_the_cdn(quick), {user: len(world.control.deliveries(user)) for user in (FIRST, SECOND)})


def test_the_table_knows_every_line() -> None:
    assert [line["name"] for line in LINES] == list(EXPECTED)


def test_every_line_in_order_on_one_channel(feeding: Feeding) -> None:
    world = feeding.world
    for line in LINES:
        name, response, expected = line["name"], line["response"], EXPECTED[line["name"]]
        before = world.channel
        channel = feeding.feed(response)
        assert (feeding.texts(FIRST), feeding.texts(SECOND)) == (expected.first, expected.second), name
        assert feeding.reasons(response) == expected.reasons, name
        assert channel.sync_buf == (response.get("get_updates_buf") or before.sync_buf), name
        assert {each: getattr(channel, each) for each in expected.fields} == expected.fields, name
        if channel.status is not ChannelStatus.ONLINE:
            feeding.log_in_again()
    assert channel.last_error is not None
    assert world.wired.redis.get(redis_keys.poll_failures(world.share_id)) == "1"
    assert channel.next_poll_at is not None
    assert 7.5 <= (channel.next_poll_at - world.bridge.clock.now()).total_seconds() <= 12


def test_the_answer_to_two_messages_carries_the_context_of_the_last(feeding: Feeding) -> None:
    feeding.feed(LINES[2]["response"])
    tokens = {row["user_id"]: row["context_token"] for row in feeding.world.control.sends(feeding.world.bot_id)}
    assert tokens == {FIRST: "Q1RYLT4", SECOND: "Q1RYLT3"}


def test_nothing_of_an_answer_is_lost_between_the_lines(feeding: Feeding) -> None:
    for line in LINES[:3]:
        feeding.feed(line["response"])
    rows = feeding.world.bridge.inbox.collection.find({"share_id": feeding.world.share_id})
    stored = {row["message_id"]: json.loads(row["raw"]) for row in rows}
    sent = {str(each["message_id"]): each for line in LINES[:3] for each in line["response"]["msgs"]}
    assert stored.keys() == sent.keys()
    assert stored["7461203398120011002"] == sent["7461203398120011002"]


def test_half_of_a_character_is_stored_and_answered_as_a_replacement(feeding: Feeding) -> None:
    item = {"type": 1, "text_item": {"text": "broken \ud83d here"}}
    message = {"message_id": 9001, "from_user_id": FIRST, "message_type": 1, "item_list": [item]}
    feeding.feed({"ret": 0, "msgs": [message], "get_updates_buf": "S"})
    assert feeding.texts(FIRST) == ("broken \N{REPLACEMENT CHARACTER} here",)
