"""Keys in every spelling, and files that open only with theirs."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pictures import noise, pdf, png
from wechat_bridge.channels.ilink.crypto import Claims, Opener, encrypt, key_from, padded_size
from wechat_bridge.errors import MediaUnreadable
from wechat_bridge.model.media import Problem
from wechat_bridge.simulators.ilink import media_store

KEY = bytes.fromhex("00112233445566778899aabbccddeeff")
OTHER = bytes.fromhex("ffeeddccbbaa99887766554433221100")

keys = st.binary(min_size=16, max_size=16)


def opened(ciphertext: bytes, *tried: bytes, image: bool = False, claims: Claims | None = None, step: int = 7) -> bytes:
    got: list[bytes] = []
    opener = Opener(tried, image, claims or Claims(), got.append)
    for start in range(0, len(ciphertext), step):
        opener.feed(ciphertext[start : start + step])
    opener.finish()
    return b"".join(got)


def problem(ciphertext: bytes, *tried: bytes, image: bool = False, claims: Claims | None = None) -> str:
    with pytest.raises(MediaUnreadable) as caught:
        opened(ciphertext, *tried, image=image, claims=claims)
    return caught.value.problem


@given(keys)
def test_a_key_is_read_in_each_of_its_spellings(key: bytes) -> None:
    raw, hexed = base64.b64encode(key).decode(), base64.b64encode(key.hex().encode()).decode()
    spellings = [
        key.hex(),
        key.hex().upper(),
        f" {key.hex()}\n",
        raw,
        raw.rstrip("="),
        base64.urlsafe_b64encode(key).decode(),
        hexed,
        hexed.rstrip("="),
        base64.b64encode(key.hex().upper().encode()).decode(),
    ]
    assert [key_from(spelled) for spelled in spellings] == [key] * len(spellings)


@given(st.one_of(st.none(), st.integers(), st.lists(st.text()), st.text(), st.binary().map(str)))
def test_whatever_else_comes_is_no_key_and_no_error(spelled: object) -> None:
    key = key_from(spelled)
    assert key is None or (isinstance(spelled, str) and len(key) == 16)


@pytest.mark.parametrize(
    "spelled", ["", "0" * 31, "0" * 33, "zz" * 16, base64.b64encode(b"x" * 15).decode(), "A" * 9999]
)
def test_nearly_a_key_is_none(spelled: str) -> None:
    assert key_from(spelled) is None


@pytest.mark.parametrize(
    ("spelled", "key"),
    [
        ("ABEiM0RVZneImaq7zN3u/w==", KEY),
        ("MDAxMTIyMzM0NDU1NjY3Nzg4OTlhYWJiY2NkZGVlZmY=", KEY),
        ("00112233445566778899aabbccddeeff", KEY),
        ("Y2Q4MTg3ZWFkM2ViMTg5ZWNhZTQ2MzRmZGUwZTc3OTU=", bytes.fromhex("cd8187ead3eb189ecae4634fde0e7795")),
    ],
)
def test_the_keys_of_the_protocol_examples_are_read(spelled: str, key: bytes) -> None:
    assert key_from(spelled) == key


@given(st.binary(max_size=400), keys, st.integers(min_value=1, max_value=90))
def test_what_is_encrypted_comes_back_however_it_is_cut(plain: bytes, key: bytes, step: int) -> None:
    ciphertext = encrypt(plain, key)
    assert len(ciphertext) == padded_size(len(plain))
    assert media_store.decrypt(ciphertext, key) == plain
    assert opened(ciphertext, key, step=step) == plain


@pytest.mark.parametrize(("size", "padded"), [(0, 16), (15, 16), (16, 32), (1000, 1008), (1008, 1024)])
def test_padding_is_always_added(size: int, padded: int) -> None:
    assert padded_size(size) == padded


def test_a_picture_without_encryption_is_passed_on_whatever_key_came_with_it() -> None:
    assert opened(png(), image=True) == png()
    assert opened(png(), OTHER, image=True) == png()
    assert opened(png(20), image=True) == png(20)


def test_the_key_that_gives_a_picture_is_taken_wherever_it_stood() -> None:
    assert opened(encrypt(png(), KEY), OTHER, KEY, image=True) == png()


@pytest.mark.parametrize("size", [9, 16, 3_000])
def test_ciphertext_of_a_picture_is_never_passed_on(size: int) -> None:
    assert problem(encrypt(png(size), KEY), image=True) == Problem.NO_KEY
    assert problem(encrypt(png(size), KEY), OTHER, image=True) == Problem.WRONG_KEY
    assert problem(b"", OTHER, image=True) == Problem.WRONG_KEY


def test_a_document_that_its_key_does_not_open_is_no_document() -> None:
    assert problem(encrypt(pdf(), KEY), OTHER) == Problem.WRONG_KEY
    assert problem(encrypt(pdf(), KEY)[:-3], KEY) == Problem.WRONG_KEY
    assert problem(b"", KEY) == Problem.WRONG_KEY
    assert problem(encrypt(pdf(), KEY)) == Problem.NO_KEY
    assert problem(png(), KEY) == Problem.WRONG_KEY  # plain, and only pictures may be


def lucky(key: bytes, wrong: bytes) -> bytes:
    """A file whose ciphertext seems to open with the wrong key: one in 256 does."""
    for number in range(5_000):
        plain = noise(100, str(number))
        if media_store.decrypt(encrypt(plain, key), wrong) is not None:
            return plain
    raise AssertionError("none of 5,000")


def test_a_wrong_key_that_seems_to_fit_is_told_by_length_and_checksum() -> None:
    plain = lucky(KEY, OTHER)
    true = Claims(len(plain), hashlib.md5(plain).hexdigest())
    assert problem(encrypt(plain, KEY), OTHER, claims=true) == Problem.WRONG_KEY
    assert opened(encrypt(plain, KEY), KEY, claims=true) == plain


@pytest.mark.parametrize(
    "claims",
    [
        Claims(99_999_999_999, ""),
        Claims(None, "f" * 32),
        Claims(2_000, "f" * 32),
        Claims(12, hashlib.md5(pdf()).hexdigest()),
    ],
)
def test_one_lie_about_a_file_does_not_cost_it(claims: Claims) -> None:
    assert opened(encrypt(pdf(), KEY), KEY, claims=claims) == pdf()


def test_neither_key_nor_address_shows_when_something_is_printed() -> None:
    shown = repr(Opener((KEY,), False, Claims(), print))
    assert KEY.hex() not in shown
    assert repr(KEY) not in shown
