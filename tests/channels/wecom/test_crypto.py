"""The published vectors, both ways and byte for byte, and what is refused."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wechat_bridge.channels.wecom.crypto import CallbackCrypto, key_of
from wechat_bridge.errors import CallbackForged, CallbackMalformed, NotConfigured

VECTORS: dict[str, dict[str, str]] = json.loads(
    Path(__file__).with_name("wecom-vectors.json").read_text(encoding="utf-8")
)
FACTS = {
    "A_verifyurl": (b"c41b64491c2468d0", 19),
    "B_message": (b"0960688932c47ef1", 284),
    "C_mp_spamtest": (b"89465c840c5f116f", 280),
}
A = VECTORS["A_verifyurl"]


def crypto_of(vector: dict[str, str]) -> CallbackCrypto:
    return CallbackCrypto(vector["token"], vector["key"], vector["rid"])


def opened(vector: dict[str, str]) -> bytes:
    return crypto_of(vector).open(vector["sig"], vector["ts"], vector["nonce"], vector["enc"])


@pytest.mark.parametrize("name", VECTORS)
def test_a_published_vector_opens_and_seals_to_the_same_bytes(name: str) -> None:
    vector = VECTORS[name]
    random, length = FACTS[name]
    plain = opened(vector)
    assert len(plain) == length
    assert crypto_of(vector).seal(plain, random) == vector["enc"]
    assert crypto_of(vector).signature(vector["ts"], vector["nonce"], vector["enc"]) == vector["sig"]


def test_the_vectors_say_what_is_published_of_them() -> None:
    assert opened(A) == b"1616140317555161061"
    assert b"<MsgId>4561255354251345929</MsgId>" in opened(VECTORS["B_message"])
    assert b"<Content><![CDATA[abcdteT]]></Content>" in opened(VECTORS["C_mp_spamtest"])


@pytest.mark.parametrize("changed", ["sig", "ts", "nonce", "enc", "token"])
def test_a_wrong_signature_is_forged_whatever_was_changed(changed: str) -> None:
    with pytest.raises(CallbackForged):
        opened(A | {changed: "x" + A[changed][1:]})


@pytest.mark.parametrize("signature", ["", "é" * 40, "\ud800", A["sig"].upper(), A["sig"] + " "])
def test_a_signature_of_any_characters_is_refused_without_a_crash(signature: str) -> None:
    with pytest.raises(CallbackForged):
        opened(A | {"sig": signature})


def signed(plain_vector: dict[str, str], encrypted: str) -> dict[str, str]:
    """A rightly signed message with this in it."""
    crypto = crypto_of(plain_vector)
    return plain_vector | {
        "enc": encrypted,
        "sig": crypto.signature(plain_vector["ts"], plain_vector["nonce"], encrypted),
    }


def raw_sealed(plain: bytes) -> str:
    """Bytes encrypted as they are, padding and all."""
    cipher = crypto_of(A)._cipher().encryptor()
    return base64.b64encode(cipher.update(plain) + cipher.finalize()).decode()


def padded(plain: bytes, pad: int) -> bytes:
    return plain + bytes([pad]) * pad


BODY = b"r" * 16 + (5).to_bytes(4) + b"hello" + A["rid"].encode()
BAD = {
    "another receiver": CallbackCrypto(A["token"], A["key"], "wxother").seal(b"hello"),
    "no base64": "###",
    "half a byte": "abc",
    "nothing": "",
    "not whole blocks": base64.b64encode(b"x" * 33).decode(),
    "pad of 0": raw_sealed(BODY + bytes(64 - len(BODY))),
    "pad of 33": raw_sealed(padded(BODY + b"x" * ((-len(BODY) - 33) % 16), 33)),
    "uneven pad": raw_sealed(b"x" * 30 + b"\x01\x02"),
    "shorter than its head": raw_sealed(padded(b"r" * 10, 22)),
    "length beyond its end": raw_sealed(padded(b"r" * 16 + (2**32 - 1).to_bytes(4) + b"hi", 10)),
}


@pytest.mark.parametrize("encrypted", BAD.values(), ids=BAD)
def test_whatever_is_wrong_behind_a_right_signature_is_said_in_the_same_words(encrypted: str) -> None:
    with pytest.raises(CallbackMalformed) as caught:
        opened(signed(A, encrypted))
    assert str(caught.value) == ("a callback with a right signature cannot be opened; check EncodingAESKey and corp id")
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("pad", range(1, 33))
def test_every_pad_of_1_to_32_is_taken_and_lengths_are_bytes(pad: int) -> None:
    crypto = CallbackCrypto(A["token"], A["key"], A["rid"])
    head = 20 + len(A["rid"])
    text = "中".encode() * 10
    text += b"x" * ((-head - len(text) - pad) % 32)
    sealed = crypto.seal(text)
    assert opened(signed(A, sealed)) == text
    assert len(base64.b64decode(sealed)) == head + len(text) + pad


def test_pads_to_16_only_are_taken_too() -> None:
    plain = BODY + b""
    pad = 16 - len(plain) % 16
    assert opened(signed(A, raw_sealed(padded(plain, pad)))) == b"hello"


def test_an_empty_receive_id_is_one() -> None:
    crypto = CallbackCrypto("token", A["key"], "")
    sealed = crypto.seal(b"hi")
    assert crypto.open(crypto.signature("1", "n", sealed), "1", "n", sealed) == b"hi"


def test_two_seals_of_a_text_differ() -> None:
    assert crypto_of(A).seal(b"hi") != crypto_of(A).seal(b"hi")


@pytest.mark.parametrize("last", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
def test_a_key_may_end_in_any_letter(last: str) -> None:
    assert len(key_of(A["key"][:-1] + last)) == 32


def test_blanks_around_a_key_and_its_equals_sign_do_not_matter() -> None:
    assert key_of(f" {A['key']}=\n") == key_of(A["key"])


@pytest.mark.parametrize("wrong", ["", A["key"][:-1], A["key"] + "A", A["key"][:-1] + "-", "密" * 43])
def test_a_wrong_key_is_named_without_being_shown(wrong: str) -> None:
    with pytest.raises(NotConfigured, match="EncodingAESKey should be 43 letters and digits") as caught:
        CallbackCrypto("token", wrong, "corp")
    assert not wrong or wrong not in str(caught.value)


@settings(max_examples=200, deadline=2_000)
@given(text=st.binary(max_size=300), receive_id=st.text(max_size=20).filter(lambda text: text.isprintable()))
def test_what_is_sealed_opens_again(text: bytes, receive_id: str) -> None:
    crypto = CallbackCrypto("t", A["key"], receive_id)
    sealed = crypto.seal(text)
    assert crypto.open(crypto.signature("1", "2", sealed), "1", "2", sealed) == text


@settings(max_examples=300, deadline=2_000)
@given(plain=st.binary(max_size=200), text=st.text(max_size=80))
def test_nothing_that_is_rightly_signed_raises_an_error_of_another_kind(plain: bytes, text: str) -> None:
    encrypteds: list[Any] = [text, raw_sealed(plain[: len(plain) // 16 * 16]), base64.b64encode(plain).decode()]
    for encrypted in encrypteds:
        refusal = None
        try:
            opened(signed(A, encrypted))
        except CallbackMalformed as error:
            refusal = error
        assert refusal is None or refusal.status == 400
