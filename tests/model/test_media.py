from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pictures import JPEG_HEAD, mp4, noise, pdf, png, silk
from wechat_bridge.model.media import (
    HEAD_BYTES,
    LONGEST_LABEL,
    extension_of,
    file_name,
    inbound_id,
    is_image,
    label_of,
    mime_of,
)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("plan.pdf", "plan.pdf"),
        ("年报 2026.pdf", "年报 2026.pdf"),
        ("../../tmp/x.py", "x.py"),
        ("/etc/passwd", "passwd"),
        ("C:\\docs\\plan.pdf", "plan.pdf"),
        ("a\x00b.txt", "a b.txt"),
        ("two\nlines.txt", "two lines.txt"),
        ("", ""),
        (" ", ""),
        ("..", ""),
        (".", ""),
        ("dir/..", ""),
        ("photo\u202egpj.exe", "photo gpj.exe"),
        ("half \ud83d", "half"),
        ("x" * 300, "x" * 255),
    ],
)
def test_a_name_becomes_a_label_and_never_a_path(name: str, label: str) -> None:
    assert label_of(name) == label


@given(st.text(max_size=400))
def test_no_name_at_all_makes_a_path_or_a_second_line(name: str) -> None:
    label = label_of(name)
    assert len(label) <= LONGEST_LABEL
    assert not set(label) & set("/\\\n\r\x00")
    assert label not in (".", "..")
    assert label.encode("utf-8").decode() == label


@pytest.mark.parametrize(
    ("data", "label", "mime"),
    [
        (png(), "", "image/png"),
        (JPEG_HEAD, "", "image/jpeg"),
        (b"GIF89a....", "", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "", "image/webp"),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", "", "audio/wav"),
        (b"\x00\x00\x00\x18ftypheic", "", "image/heic"),
        (mp4(), "", "video/mp4"),
        (silk(), "", "audio/silk"),
        (b"#!SILK_V3", "", "audio/silk"),
        (pdf(), "", "application/pdf"),
        (pdf(), "picture.png", "application/pdf"),
        (b"PK\x03\x04....", "a.zip", "application/zip"),
        (b"PK\x03\x04....", "a.DOCX", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        (b"hello", "a.txt", "text/plain"),
        (b"hello", "", "application/octet-stream"),
        (b"", "", "application/octet-stream"),
        (noise(64), "x.png", "application/octet-stream"),
    ],
)
def test_the_first_bytes_tell_the_type_and_the_name_only_helps(data: bytes, label: str, mime: str) -> None:
    assert mime_of(data[:HEAD_BYTES], label) == mime


def test_a_picture_is_told_by_its_first_block() -> None:
    assert is_image(png()[:16])
    assert not is_image(pdf()[:16])
    assert not is_image(b"")


@pytest.mark.parametrize(
    ("label", "mime", "name"),
    [
        ("plan.pdf", "application/pdf", "plan.pdf"),
        ("", "application/pdf", "file.pdf"),
        ("..", "image/png", "file.png"),
        ("", "what/ever", "file.bin"),
    ],
)
def test_a_file_without_a_name_is_shown_with_one(label: str, mime: str, name: str) -> None:
    assert file_name(label, mime) == name


@pytest.mark.parametrize(
    ("label", "mime", "extension"),
    [
        ("plan.pdf", "application/pdf", "pdf"),
        ("report.DOCX", "application/octet-stream", "docx"),
        ("holiday.txt", "image/jpeg", "jpg"),
        ("x.päge", "what/ever", "bin"),
        ("pdf", "what/ever", "bin"),
    ],
)
def test_an_extension_is_that_of_the_bytes_and_else_that_of_the_name(label: str, mime: str, extension: str) -> None:
    assert extension_of(label, mime) == extension


def test_two_parts_of_one_message_are_two_pieces_of_media() -> None:
    assert inbound_id("channel:7001", 0) != inbound_id("channel:7001", 1)
