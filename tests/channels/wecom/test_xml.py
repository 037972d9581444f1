"""XML in, whoever wrote it, and XML out, whatever is in the text."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.channels.wecom.callbacks import cdata
from wechat_bridge.channels.wecom.envelope import MOST_BODY_BYTES, encrypted_in, message_in
from wechat_bridge.channels.wecom.xml import MOST_DEPTH, MOST_ELEMENTS, fields_of, text_in
from wechat_bridge.errors import CallbackMalformed

BOMB = (
    "<!DOCTYPE x [<!ENTITY a 'ha'>"
    + "".join(
        f"<!ENTITY {name} '{'&' + before + ';' + '&' + before + ';'}'>"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]><xml><Encrypt>&i;</Encrypt></xml>"
)
HOSTILE = {
    "nested entities": BOMB,
    "a file": '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]><xml><Encrypt>&e;</Encrypt></xml>',
    "a DTD elsewhere": '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd"><xml><Encrypt>a</Encrypt></xml>',
    "an empty DTD": "<!DOCTYPE xml><xml><Encrypt>a</Encrypt></xml>",
    "parameter entities": "<!DOCTYPE x [<!ENTITY % p 'q'> %p;]><xml><Encrypt>a</Encrypt></xml>",
    "100,000 nested tags": "<a>" * 100_000 + "</a>" * 100_000,
    "100,000 brothers": f"<xml>{'<a/>' * 100_000}</xml>",
    "one level too deep": "<a>" * (MOST_DEPTH + 1) + "</a>" * (MOST_DEPTH + 1),
    "one element too many": f"<xml>{'<a/>' * MOST_ELEMENTS}</xml>",
    "no XML": "hello",
    "nothing": "",
    "half": "<xml><Encrypt>a",
    "an entity nobody declared": "<xml><Encrypt>&e;</Encrypt></xml>",
    "a control character": "<xml><Encrypt>a\x08b</Encrypt></xml>",
    "no fields": "<xml>hello</xml>",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_is_hostile_or_no_xml_is_malformed_at_once_and_told_in_our_own_words(text: str) -> None:
    began = time.thread_time()
    with pytest.raises(CallbackMalformed) as caught:
        encrypted_in(text.encode())
    assert time.thread_time() - began < 0.1
    assert caught.value.status == 400
    assert not any(told in str(caught.value) for told in ("etc", "hostname", "127.0.0.1", "hello"))


@pytest.mark.parametrize(
    "name", ["100,000 nested tags", "100,000 brothers", "one level too deep", "one element too many"]
)
def test_what_is_too_deep_or_too_much_is_left_where_it_becomes_so(name: str) -> None:
    with pytest.raises(CallbackMalformed, match="nested too deeply or has too many elements"):
        message_in(HOSTILE[name].encode())


def test_the_deepest_and_longest_that_is_allowed_is_read() -> None:
    assert fields_of("<a>" * MOST_DEPTH + "x" + "</a>" * MOST_DEPTH)
    assert len(fields_of(f"<xml>{'<a/>' * (MOST_ELEMENTS - 1)}</xml>")["a"]) == MOST_ELEMENTS - 1


@pytest.mark.parametrize("name", ["nested entities", "a file", "100,000 nested tags"])
def test_the_inner_xml_is_held_to_the_same_rules(name: str) -> None:
    with pytest.raises(CallbackMalformed):
        message_in(HOSTILE[name].encode())


def test_memory_stays_flat_however_deep_it_goes() -> None:
    body = HOSTILE["100,000 nested tags"].encode()
    tracemalloc.start()
    with pytest.raises(CallbackMalformed):
        encrypted_in(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * len(body)


def test_a_body_of_ten_megabytes_is_not_even_parsed() -> None:
    body = b"<xml><Encrypt>" + b"a" * 10_000_000 + b"</Encrypt></xml>"
    with pytest.raises(CallbackMalformed, match=f"larger than {MOST_BODY_BYTES} bytes"):
        encrypted_in(body)


@pytest.mark.parametrize(
    "body",
    [
        b"<xml><Encrypt>a</Encrypt><Encrypt>b</Encrypt></xml>",
        b"<xml><Encrypt><Encrypt>a</Encrypt></Encrypt></xml>",
        b"<xml><Encrypt></Encrypt></xml>",
        b"<xml><encrypt>a</encrypt></xml>",
        "<xml><Encrypt>a</Encrypt></xml>".encode("utf-16"),
        b"<xml><Encrypt>\xff</Encrypt></xml>",
    ],
    ids=["two", "nested", "empty", "another name", "UTF-16", "no UTF-8"],
)
def test_a_body_without_exactly_one_encrypt_in_utf8_is_malformed(body: bytes) -> None:
    with pytest.raises(CallbackMalformed):
        encrypted_in(body)


@pytest.mark.parametrize("body", [
    "<xml><ToUserName><![CDATA[c]]></ToUserName><Encrypt><![CDATA[abc=]]></Encrypt></xml>",
    "\ufeff<?xml version='1.0' encoding='utf-8'?>\n<xml>\n <Encrypt>\n abc=\n</Encrypt>\n</xml>\n",
    "<?xml version='1.0' encoding='GBK'?><xml><Encrypt>abc=</Encrypt></xml>",
])  # fmt: skip
def test_the_encrypted_text_is_found_however_it_is_set(body: str) -> None:
    assert encrypted_in(body.encode()) == "abc="


@pytest.mark.parametrize("character", ["\x1d", "\x00", "\x10", "\ufffe", "\x0b"])
def test_characters_that_xml_cannot_carry_are_left_out_and_the_rest_is_read(character: str) -> None:
    plain = f"<xml><Content><![CDATA[a{character}b]]></Content></xml>"
    assert message_in(plain.encode()) == {"Content": "ab"}


def test_bytes_that_are_no_text_are_replaced_and_the_rest_is_read() -> None:
    assert message_in(b"<xml><Content><![CDATA[a\xffb]]></Content></xml>") == {"Content": "a\ufffdb"}


def test_fields_never_come_from_inside_a_text() -> None:
    fields = message_in(b"<xml><Content><![CDATA[<MsgId>1</MsgId>]]></Content><MsgId>2</MsgId></xml>")
    assert fields == {"Content": "<MsgId>1</MsgId>", "MsgId": "2"}


def test_nested_and_repeated_fields_keep_their_shape() -> None:
    fields = fields_of(
        "<xml><SelectedItems><SelectedItem><QuestionKey>q</QuestionKey><OptionIds><OptionId>1</OptionId>"
        "<OptionId>2</OptionId><OptionId>3</OptionId></OptionIds></SelectedItem></SelectedItems><Empty/></xml>"
    )
    assert fields["SelectedItems"]["SelectedItem"] == {"QuestionKey": "q", "OptionIds": {"OptionId": ["1", "2", "3"]}}
    assert (text_in(fields, "SelectedItems"), text_in(fields, "Empty")) == ("", "")


@pytest.mark.parametrize("text", ["array[x[0]]>1", "]]>", "]]]]>>", "😀 & <b> \"q\" 'q'", "a\x08b", ""])
def test_a_text_survives_a_round_trip_through_cdata(text: str) -> None:
    assert fields_of(f"<xml><Content>{cdata(text)}</Content></xml>") == {"Content": text.replace("\x08", "")}


PIECES = st.sampled_from(
    [
        "<xml>", "</xml>", "<Encrypt>", "</Encrypt>", "<![CDATA[", "]]>", "&e;", "<!DOCTYPE x [", "]>", "a", "\x00",
        "<!ENTITY e 'x'>", "<?xml version='1.0'?>", "<a b='c'/>", "&#1;", "<!--", "-->",
    ]
)  # fmt: skip


@settings(max_examples=400, deadline=2_000)
@given(st.lists(PIECES | st.text(max_size=5), max_size=30))
def test_any_pieces_in_any_order_are_read_or_malformed(pieces: list[str]) -> None:
    body = "".join(pieces).encode("utf-8", "replace")
    for read in (encrypted_in, message_in):
        refusal = None
        try:
            read(body)
        except CallbackMalformed as error:
            refusal = error
        assert refusal is None or refusal.status == 400


@settings(max_examples=200, deadline=2_000)
@given(st.text(max_size=200))
def test_any_text_that_xml_can_carry_survives(text: str) -> None:
    found = fields_of(f"<xml><Content>{cdata(text)}</Content></xml>")["Content"]
    assert cdata(found) == cdata(text.replace("\r\n", "\n").replace("\r", "\n"))
