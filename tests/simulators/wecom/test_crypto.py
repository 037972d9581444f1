"""The published known-answer vectors, both ways, byte for byte."""

from __future__ import annotations

import base64

import pytest

from wechat_bridge.simulators.wecom.crypto import CallbackCrypto, CallbackCryptoError, pad_length

KEY = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
SAMPLE = CallbackCrypto("QDG6eK", KEY, "wx5823bf96d3bd56c7")
OFFICIAL_ACCOUNT = CallbackCrypto("spamtest", "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG", "wx2c2769f8efd9abc2")
VECTORS = {
    "URL check": (
        SAMPLE,
        "1409659589",
        "263014780",
        "5c45ff5e21c57e6ad56bac8758b79b1d9ac89fd3",
        "c41b64491c2468d0",
        "P9nAzCzyDtyTWESHep1vC5X9xho/qYX3Zpb4yKa9SKld1DsH3Iyt3tP3zNdtp+4RPcs8TgAE7OaBO+FZXvnaqQ==",
    ),
    "message": (
        SAMPLE,
        "1409659813",
        "1372623149",
        "477715d11cdb4164915debcba66cb864d751f3e6",
        "0960688932c47ef1",
        "RypEvHKD8QQKFhvQ6QleEB4J58tiPdvo+rtK1I9qca6aM/wvqnLSV5zEPeusUiX5L5X/0lWfrf0QADHHhGd3QczcdCUpj911L3vg3W/sYYvu"
        "JTs3TUUkSUXxaccAS0qhxchrRYt66wiSpGLYL42aM6A8dTT+6k4aSknmPj48kzJs8qLjvd4Xgpue06DOdnLxAUHzM6+kDZ+HMZfJYuR+LtwG"
        "c2hgf5gsijff0ekUNXZiqATP7PF5mZxZ3Izoun1s4zG4LUMnvw2r+KqCKIw+3IQH03v+BCA9nMELNqbSf6tiWSrXJB3LAVGUcallcrw8V2t9"
        "EL4EhzJWrQUax5wLVMNS0+rUPA3k22Ncx4XXZS9o0MBH27Bo6BpNelZpS+/uh9KsNlY6bHCmJU9p8g7m3fVKn28H3KDYA5Pl/T8Z1ptDAVe0"
        "lXdQ2YoyyH2uyPIGHBZZIs2pDBS8R07+qN+E7Q==",
    ),
    "official account": (
        OFFICIAL_ACCOUNT,
        "1409735669",
        "1320562132",
        "5d197aaffba7e9b25a30732f161a50dee96bd5fa",
        "89465c840c5f116f",
        "hyzAe4OzmOMbd6TvGdIOO6uBmdJoD0Fk53REIHvxYtJlE2B655HuD0m8KUePWB3+LrPXo87wzQ1QLvbeUgmBM4x6F8PGHQHFVAFmOD2LdJF9"
        "FrXpbUAh0B5GIItb52sn896wVsMSHGuPE328HnRGBcrS7C41IzDWyWNlZkyyXwon8T332jisa+h6tEDYsVticbSnyU8dKOIbgU6ux5VTjg3y"
        "t+WGzjlpKn6NPhRjpA912xMezR4kw6KWwMrCVKSVCZciVGCgavjIQ6X8tCOp3yZbGpy0VxpAe+77TszTfRd5RJSVO/HTnifJpXgCSUdUue1v"
        "6h0EIBYYI1BD1DlD+C0CR8e6OewpusjZ4uBl9FyJvnhvQl+q5rv1ixrcpCumEPo5MJSgM9ehVsNPfUM669WuMyVWQLCzpu9GhglF2PE=",
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_a_published_vector_is_signed_decrypted_and_encrypted_again_to_the_same_bytes(name: str) -> None:
    crypto, timestamp, nonce, signature, random16, encrypted = VECTORS[name]
    assert crypto.signature(timestamp, nonce, encrypted) == signature
    plain, found = crypto.decrypt(encrypted)
    assert found == random16.encode()
    assert crypto.encrypt(plain, random16.encode()) == encrypted


def test_the_vectors_hold_what_their_publisher_says() -> None:
    assert SAMPLE.decrypt(VECTORS["URL check"][-1])[0] == b"1616140317555161061"
    message = SAMPLE.decrypt(VECTORS["message"][-1])[0]
    assert b"<MsgId>4561255354251345929</MsgId>" in message
    assert (len(message), pad_length(message, SAMPLE.receive_id)) == (284, 30)


@pytest.mark.parametrize("length", range(33))
def test_every_padding_from_1_to_32_comes_back(length: int) -> None:
    plain = "好".encode() * length
    encrypted = SAMPLE.encrypt(plain)
    assert len(base64.b64decode(encrypted)) % 32 == 0
    assert SAMPLE.decrypt(encrypted)[0] == plain


@pytest.mark.parametrize(
    ("encrypted", "says"),
    [
        ("", "padding"),
        ("not base64!", "damaged"),
        (base64.b64encode(b"short").decode(), "damaged"),
        (SAMPLE.encrypt(b"hi", receive_id="another"), "receiveid"),
        (CallbackCrypto("t", "6qkdMrq68nTKduznJYO1A37W2oEgpkMUvkttRToqhUt", "r").encrypt(b"hi"), "padding|length"),
    ],
    ids=["empty", "not base64", "not whole blocks", "another receiver", "another key"],
)
def test_what_is_not_of_this_key_is_refused(encrypted: str, says: str) -> None:
    with pytest.raises(CallbackCryptoError, match=says):
        SAMPLE.decrypt(encrypted)


def test_nothing_secret_is_printed() -> None:
    assert KEY not in repr(SAMPLE)
    assert "QDG6eK" not in repr(SAMPLE)
