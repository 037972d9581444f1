"""Bytes to text, by the charset that they or their sender declare."""

from __future__ import annotations

import codecs

from wechat_bridge.errors import MessageParseError
from wechat_bridge.gateway.adapters.base import ContentType

_SAME = (
    "utf-8", "utf-16", "utf-16le", "utf-16be", "utf-32", "utf-32le", "utf-32be", "gb18030", "big5", "big5-hkscs",
    "shift_jis", "euc-jp", "euc-kr", "koi8-r", *(f"iso-8859-{number}" for number in (*range(1, 12), 13, 14, 15, 16)),
    *(f"windows-{number}" for number in range(1250, 1259)),
)  # fmt: skip
CHARSETS = {name: name for name in _SAME} | {
    "utf8": "utf-8", "us-ascii": "ascii", "ascii": "ascii", "latin1": "iso-8859-1", "utf-16-le": "utf-16le",
    "utf-16-be": "utf-16be", "gbk": "gb18030", "gb2312": "gb18030", "gb_2312-80": "gb18030", "shift-jis": "shift_jis",
}  # fmt: skip
"""What is called how. A list of our own: Python's includes codecs that are no charsets (punycode, unicode_escape), and
keeps every name that it is ever asked for."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32le"),
    (codecs.BOM_UTF32_BE, "utf-32be"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)


def decoded(raw: bytes, content_type: ContentType, declared: str = "") -> str:
    """Return the text: by its byte order mark, else by ``charset``, else as ``declared`` inside, else as UTF-8.

    That order is RFC 7303's. Raises MessageParseError for a charset that is not known and for what is not in it.
    """
    mark, name = next(((mark, name) for mark, name in _MARKS if raw.startswith(mark)), (b"", ""))
    charset = name or CHARSETS.get((content_type.parameters.get("charset") or declared or "utf-8").strip().lower())
    if charset is None:
        raise MessageParseError("its charset is not known here; send it as UTF-8")
    try:
        text = raw[len(mark) :].decode(charset)
        if charset != "utf-8":
            text.encode()  # what other charsets let through that is no character
    except UnicodeError as error:
        raise MessageParseError(f"it is not in the charset {charset} that it declares, or that goes without") from error
    return text
