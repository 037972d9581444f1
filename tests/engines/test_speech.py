"""Whoever understands speech is found by its entry point."""

from __future__ import annotations

from pathlib import Path

import pytest

from wechat_bridge.engines.speech import GROUP, load_speech_to_text

PACKAGE = """
class Listener:
    def __init__(self, words="heard"):
        self.words = words

    def text_of(self, data, mime, deadline_seconds):
        return f"{self.words} {len(data)} bytes of {mime}"


def second():
    return Listener("misheard")
"""


def install(folder: Path, entries: str) -> None:
    """Put a package with these entry points there."""
    (folder / "spoken_words.py").write_text(PACKAGE)
    info = folder / "spoken_words-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: spoken-words\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{entries}")


def test_without_a_package_nobody_understands_speech() -> None:
    assert load_speech_to_text() is None


def test_an_installed_package_is_asked_and_of_two_the_first_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "z = spoken_words:second\na = spoken_words:Listener\n")
    monkeypatch.syspath_prepend(tmp_path)
    speech = load_speech_to_text()
    assert speech is not None
    assert speech.text_of(b"123", "audio/silk", 1.0) == "heard 3 bytes of audio/silk"
