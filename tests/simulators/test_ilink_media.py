from __future__ import annotations

import base64
import hashlib
import os
from typing import Any
from urllib.parse import quote

import pytest
import requests
from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from .conftest import USER, BotClient, Json

KEY = bytes(range(16))
PICTURE = bytes(range(250)) * 4


def encrypt(plain: bytes) -> bytes:
    padder, encryptor = padding.PKCS7(128).padder(), Cipher(algorithms.AES(KEY), modes.ECB()).encryptor()
    return encryptor.update(padder.update(plain) + padder.finalize()) + encryptor.finalize()


def decrypt(ciphertext: bytes, key: bytes) -> bytes:
    decryptor, unpadder = Cipher(algorithms.AES(key), modes.ECB()).decryptor(), padding.PKCS7(128).unpadder()
    return unpadder.update(decryptor.update(ciphertext) + decryptor.finalize()) + unpadder.finalize()


def upload_request(plain: bytes = PICTURE, **changes: Any) -> Json:
    fields = {
        "filekey": "b2e59eff78ec6fe998b91f890ffbee9c",
        "media_type": 1,
        "to_user_id": USER,
        "rawsize": len(plain),
        "rawfilemd5": hashlib.md5(plain, usedforsecurity=False).hexdigest(),
        "filesize": len(encrypt(plain)),
        "no_need_thumb": True,
        "aeskey": KEY.hex(),
    }
    return {**fields, **changes}


def upload(url: str, data: bytes) -> requests.Response:
    return requests.post(url, data=data, headers={"Content-Type": "application/octet-stream"}, timeout=10)


def test_an_upload_by_full_url_gives_a_download_parameter_under_which_the_same_bytes_are_served(bot: BotClient) -> None:
    answer = bot.call("getuploadurl", upload_request())
    assert set(answer) == {"ret", "upload_full_url"}
    assert answer["upload_full_url"].startswith(bot.base_url)
    uploaded = upload(answer["upload_full_url"], encrypt(PICTURE))
    parameter = uploaded.headers["x-encrypted-param"]
    assert (uploaded.status_code, uploaded.content) == (200, b"")
    url = f"{bot.base_url}/c2c/download?encrypted_query_param={quote(parameter, safe='')}"
    assert requests.get(url, timeout=10).content == encrypt(PICTURE)
    assert bot.control.get_media(parameter) == PICTURE


@pytest.mark.parametrize(
    ("shape", "names"), [("param", {"upload_param"}), ("both", {"upload_param", "upload_full_url"})]
)
def test_an_upload_parameter_can_be_given_for_clients_that_build_the_url(
    bot: BotClient, shape: str, names: set[str]
) -> None:
    bot.control.set_options(upload_answer=shape)
    answer = bot.call("getuploadurl", upload_request())
    assert set(answer) == {"ret"} | names
    parameter, filekey = quote(answer["upload_param"], safe=""), upload_request()["filekey"]
    url = f"{bot.base_url}/c2c/upload?encrypted_query_param={parameter}&filekey={filekey}"
    assert "x-encrypted-param" in upload(url, encrypt(PICTURE)).headers


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"to_user_id": "nobody"}, {"ret": -1, "errmsg": "invalid to_user_id"}),
        ({"media_type": 5}, {"ret": -2, "errmsg": "invalid media_type"}),
        ({"filesize": 1000}, {"ret": -2, "errmsg": "invalid filesize"}),
        ({"rawsize": "1000"}, {"ret": -2, "errmsg": "invalid filesize"}),
        ({"rawfilemd5": ""}, {"ret": -2, "errmsg": "invalid rawfilemd5"}),
        ({"aeskey": "AAEC"}, {"ret": -2, "errmsg": "invalid aeskey"}),
        ({"filekey": None}, {"ret": -2, "errmsg": "invalid filekey"}),
        ({"no_need_thumb": False}, {"ret": -2, "errmsg": "invalid thumb_filesize"}),
    ],
)
def test_a_wrong_upload_request_is_refused(bot: BotClient, changes: Json, expected: Json) -> None:
    assert bot.call("getuploadurl", upload_request(**changes)) == expected


def test_a_thumbnail_gets_a_parameter_of_its_own(bot: BotClient) -> None:
    thumb = {name: upload_request(b"small")[name] for name in ("rawsize", "rawfilemd5", "filesize")}
    changes = {f"thumb_{name}": value for name, value in thumb.items()}
    answer = bot.call("getuploadurl", upload_request(no_need_thumb=False, **changes))
    parameter, filekey = quote(answer["thumb_upload_param"], safe=""), upload_request()["filekey"]
    url = f"{bot.base_url}/c2c/upload?encrypted_query_param={parameter}&filekey={filekey}"
    assert upload(url, encrypt(b"small")).status_code == 200


@pytest.mark.parametrize(
    "data",
    [encrypt(PICTURE)[:-16], PICTURE, os.urandom(1008), encrypt(bytes(1000)), b""],
    ids=["too short", "not encrypted", "another key", "another file", "empty"],
)
def test_a_body_that_is_not_what_was_announced_is_refused_with_the_reason_in_a_header(
    bot: BotClient, data: bytes
) -> None:
    refused = upload(bot.call("getuploadurl", upload_request())["upload_full_url"], data)
    assert refused.status_code == 400
    assert "announced" in refused.headers["x-error-message"]
    assert "x-encrypted-param" not in refused.headers


def test_a_parameter_whose_plus_signs_were_not_escaped_is_unknown(bot: BotClient) -> None:
    url = f"{bot.base_url}/c2c/upload?encrypted_query_param=a+b=&filekey=x"
    assert upload(url, b"").status_code == 400
    assert requests.get(f"{bot.base_url}/download?encrypted_query_param=x", timeout=10).status_code == 404


def test_a_file_above_one_megabyte_goes_through(bot: BotClient) -> None:
    film = os.urandom(3_000_000)
    answer = bot.call("getuploadurl", upload_request(film, media_type=2))
    assert upload(answer["upload_full_url"], encrypt(film)).status_code == 200


@pytest.mark.parametrize("spelling", ["raw", "hex"])
def test_a_user_can_send_a_picture_whose_key_is_spelled_either_way(bot: BotClient, spelling: str) -> None:
    file = bot.control.put_media(PICTURE, spelling)
    bot.control.send_items(
        bot.bot_id, USER, [{"type": 2, "image_item": {"media": file["media"], "mid_size": file["size"]}}]
    )
    media = bot.poll()["msgs"][0]["item_list"][0]["image_item"]["media"]
    spelled = base64.b64decode(media["aes_key"])
    key = spelled if spelling == "raw" else bytes.fromhex(spelled.decode())
    assert key.hex() == file["aeskey"]
    assert decrypt(requests.get(media["full_url"], timeout=10).content, key) == PICTURE


@pytest.mark.parametrize(
    ("key", "readable"), [(KEY.hex().encode(), True), (KEY, True), (KEY[::-1], False), (b"x", False)]
)
def test_the_record_of_a_sent_picture_tells_whether_the_user_can_open_it(
    bot: BotClient, key: bytes, readable: bool
) -> None:
    [message] = bot.hear("hi")
    answer = bot.call("getuploadurl", upload_request())
    parameter = upload(answer["upload_full_url"], encrypt(PICTURE)).headers["x-encrypted-param"]
    media = {"encrypt_query_param": parameter, "aes_key": base64.b64encode(key).decode(), "encrypt_type": 1}
    bot.send("", message["context_token"], item_list=[{"type": 2, "image_item": {"media": media, "mid_size": 1008}}])
    assert bot.control.deliveries(USER)[0]["media_readable"] is readable
