"""getuploadurl and the CDN behind it, with the checks the real one is known to make."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING
from urllib.parse import quote

from wechat_bridge.simulators.ilink.call import Answer, Call, error_answer, json_answer
from wechat_bridge.simulators.ilink.media_store import Announced, decrypt, md5_hex, padded_size
from wechat_bridge.simulators.json_types import Json

if TYPE_CHECKING:
    from wechat_bridge.simulators.ilink.world import World

IMAGE, VIDEO, FILE, VOICE = 1, 2, 3, 4
HEX_32 = re.compile(r"[0-9a-fA-F]{32}")
USER_SUFFIX = "@im.wechat"


async def get_upload_url(world: World, call: Call) -> Answer:
    """Announce an upload; answers with a full URL on this server, or with the parameter alone as it once was."""
    body = call.body
    if not str(body.get("to_user_id", "")).endswith(USER_SUFFIX):
        return error_answer(-1, "invalid to_user_id")
    if problem := problem_of(body):
        return error_answer(-2, problem)
    answer: Json = {"ret": 0}
    parameter = world.media.announce(announced(body, ""))
    if world.options.upload_answer != "param":
        answer["upload_full_url"] = upload_url(world.base_url, parameter, body["filekey"])
    if world.options.upload_answer != "full_url":
        answer["upload_param"] = parameter
    if not body.get("no_need_thumb") and body["media_type"] in (IMAGE, VIDEO):
        answer["thumb_upload_param"] = world.media.announce(announced(body, "thumb_"))
    return json_answer(answer)


def problem_of(body: Json) -> str:
    """What is wrong with a getuploadurl request; empty when nothing is."""
    if body.get("media_type") not in (IMAGE, VIDEO, FILE, VOICE):
        return "invalid media_type"
    for name in ("filekey", "aeskey"):
        if not HEX_32.fullmatch(str(body.get(name, ""))):
            return f"invalid {name}"
    wants_thumb = body["media_type"] in (IMAGE, VIDEO) and not body.get("no_need_thumb")
    return size_problem(body, "") or (size_problem(body, "thumb_") if wants_thumb else "")


def size_problem(body: Json, prefix: str) -> str:
    """What is wrong with the sizes and the checksum of the file (prefix empty) or its thumbnail (`thumb_`)."""
    raw_size, file_size = body.get(f"{prefix}rawsize"), body.get(f"{prefix}filesize")
    if not isinstance(raw_size, int) or file_size != padded_size(raw_size):
        return f"invalid {prefix}filesize"
    return "" if HEX_32.fullmatch(str(body.get(f"{prefix}rawfilemd5", ""))) else f"invalid {prefix}rawfilemd5"


def announced(body: Json, prefix: str) -> Announced:
    """The upload that a checked request announces."""
    return Announced(
        filekey=body["filekey"],
        raw_size=body[f"{prefix}rawsize"],
        file_size=body[f"{prefix}filesize"],
        raw_md5=body[f"{prefix}rawfilemd5"],
        aes_key=body["aeskey"],
    )


def upload_url(base_url: str, parameter: str, filekey: str) -> str:
    """The full upload URL, in the shape of the real one."""
    query = f"encrypted_query_param={quote(parameter, safe='')}&filekey={filekey}&taskid={secrets.token_hex(6)}"
    return f"{base_url}/c2c/upload?{query}"


async def upload(world: World, call: Call) -> Answer:
    """Take an encrypted file if it is what was announced; the download parameter comes back in a header."""
    query = call.request.query
    expected = world.media.announced(query.get("encrypted_query_param", ""))
    if expected is None or expected.filekey != query.get("filekey"):
        return cdn_error(400, "no such upload was announced")
    plain = decrypt(call.data, bytes.fromhex(expected.aes_key)) if len(call.data) == expected.file_size else None
    if plain is None:
        return cdn_error(400, "the body does not have the announced size or key")
    if len(plain) != expected.raw_size or md5_hex(plain) != expected.raw_md5.lower():
        return cdn_error(400, "the body does not have the announced checksum")
    parameter = world.media.keep(call.data, bytes.fromhex(expected.aes_key))
    return Answer(headers={"x-encrypted-param": parameter})


async def download(world: World, call: Call) -> Answer:
    """Serve an encrypted file as it was uploaded."""
    file = world.media.stored(call.request.query.get("encrypted_query_param", ""))
    if file is None:
        return cdn_error(404, "no such file")
    return Answer(file.ciphertext, headers={"Content-Type": "application/octet-stream"})


def cdn_error(status: int, message: str) -> Answer:
    """An error of the CDN: the text stands in a header."""
    return Answer(b"", status, {"x-error-message": message})
