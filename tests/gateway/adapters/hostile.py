"""Bodies whose reading costs more than they are long, unless somebody has thought of them.

``python -m tests.gateway.adapters.hostile`` reads each, and prints as JSON what it cost: kind of refusal, seconds of
CPU, and by how many MiB the process grew at most.
"""

from __future__ import annotations

import json
import resource
import struct
import sys
import time
from functools import partial

from tests.gateway.adapters.formats import PAYMENT_SET, adapters, frame, message
from wechat_bridge.errors import EventRefused

MIB = 1024 * 1024
JSON, XML, PROTOBUF, BINARY = (
    "application/json",
    "application/xml",
    "application/x-protobuf",
    "application/octet-stream",
)


def bodies(size: int = MIB) -> dict[str, tuple[str, bytes]]:
    """Content type and bytes by name, each of about ``size`` bytes."""
    return _json(size) | _xml(size) | _binary(size)


def _filled(size: int, head: str, part: str, tail: str = "") -> bytes:
    return (head + part * ((size - len(head) - len(tail)) // len(part.encode())) + tail).encode()


def _json(size: int) -> dict[str, tuple[str, bytes]]:
    filled = partial(_filled, size)
    return {
        "json deep arrays": (JSON, filled('{"a":', "[")),
        "json deep objects": (JSON, filled("", '{"a":')),
        "json empty arrays": (JSON, filled('{"a":[[]', ",[]", "]}")),
        "json numbers": (JSON, filled('{"a":[0', ",0", "]}")),
        "json names": (JSON, b"{" + b",".join(b'"%x":1' % n for n in range(size // 10)) + b"}"),
        "json one name again and again": (JSON, filled('{"a":1', ',"a":1', "}")),
        "json digits": (JSON, filled('{"a":', "9", "}")),
        "json decimals": (JSON, filled('{"a":0.', "3", "}")),
        "json exponents": (JSON, filled('{"a":[1e9', ",1e999999999", "]}")),
        "json open text": (JSON, filled('{"a":"', '\\"')),
        "json quotes and brackets": (JSON, filled('{"a":', '"[{,"')),
        "json surrogates": (JSON, filled('{"a":"', "\\ud800", '"}')),
        "json spaces": (JSON, filled("", " ")),
        "json as utf-32": (f"{JSON}; charset=utf-32le", filled("", '{"a":')),
    }


def _xml(size: int) -> dict[str, tuple[str, bytes]]:
    filled = partial(_filled, size)
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    return {
        "xml deep": (XML, filled("", "<a>")),
        "xml elements": (XML, filled("<r>", "<a/>", "</r>")),
        "xml attributes": (XML, ("<r " + " ".join(f'a{n}="1"' for n in range(size // 12)) + "/>").encode()),
        "xml billion laughs": (XML, f'<!DOCTYPE r [<!ENTITY e0 "lol">{entities}]><r>&e9;</r>'.encode()),
        "xml quadratic": (XML, filled(f'<!DOCTYPE r [<!ENTITY x "{"x" * (size // 2)}">]><r>', "&x;", "</r>")),
        "xml doctype without end": (XML, filled("<!DOCTYPE r [", "<!ELEMENT a ANY>")),
        "xml namespace": (XML, filled(f'<r xmlns="{"u" * (size // 2)}">', "<a/>", "</r>")),
        "xml namespaces": (XML, ("<r>" + "".join(f'<a xmlns="u{n}"/>' for n in range(size // 20)) + "</r>").encode()),
        "xml entities of its own": (XML, filled("<r><a>", "&#x41;&amp;", "</a>")),
        "xml digits": (XML, filled('<r><a type="integer">', "9", "</a></r>")),
        "xml comment": (XML, filled("<r><!--", "- ")),
        "xml long name": (XML, filled("<", "a")),
        "xml mixed": (XML, filled("<r>x", "<a/>y", "</r>")),
    }


def _binary(size: int) -> dict[str, tuple[str, bytes]]:
    return {
        "protobuf strings": (PROTOBUF, b"\x0a\x01x" * (size // 3)),
        "protobuf unknown fields": (PROTOBUF, b"\xf8\x06\x01" * (size // 3)),
        "protobuf ones": (PROTOBUF, b"\xff" * size),
        "protobuf groups": (PROTOBUF, b"\x0b" * size),
        "protobuf text too long": (PROTOBUF, b"\x0a\xff\xff\xff\xff\x07" + b"x" * (size - 6)),
        "binary text too long": (BINARY, frame(b"x" * 12 + struct.pack(">BH", 255, 65535) + b"x" * (size - 99))),
        "binary not utf-8": (BINARY, frame(b"\xff" * (size - 99))),
    }


def cost(content_type: str, raw: bytes) -> tuple[str, float, float]:
    """How an event was refused ("" if it was not), seconds of CPU, and MiB by which the process grew."""
    reading = adapters()
    before, began, kind = _peak(), time.process_time(), ""
    try:
        reading.parse(raw, content_type)
    except EventRefused as error:
        kind = type(error).__name__
    return kind, time.process_time() - began, _peak() - before


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    message(PAYMENT_SET, "acme.Payment")
    prepared = bodies()
    for warm in ((JSON, b'{"a":1}'), (XML, b"<r><a>1</a></r>"), (PROTOBUF, b"")):
        cost(*warm)
    print(json.dumps({name: cost(*body) for name, body in prepared.items()}), file=sys.stdout)  # noqa: T201
