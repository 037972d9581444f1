"""Logs of child processes."""

from __future__ import annotations

from pathlib import Path

from wechat_bridge.local.logs import last_line, rotate, tail


def test_the_tail_of_a_short_log_is_all_of_it(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("one\ntwo\n")
    assert tail(log) == "one\ntwo\n"
    assert last_line(log) == "two"


def test_the_tail_of_a_long_log_begins_with_a_whole_line(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("".join(f"line {number}\n" for number in range(1000)))
    assert tail(log, most_bytes=20) == "line 998\nline 999\n"


def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"\xff\xfe broken\n")
    assert last_line(log).endswith("broken")


def test_an_empty_or_missing_log_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty.log").touch()
    assert tail(tmp_path / "empty.log") == tail(tmp_path / "missing.log") == "(the log is empty)"


def test_a_log_that_grew_too_large_is_moved_aside_once(tmp_path: Path) -> None:
    log, old = tmp_path / "a.log", tmp_path / "a.log.1"
    log.write_text("x" * 11)
    rotate(log, largest_bytes=10)
    assert (log.exists(), old.read_text()) == (False, "x" * 11)
    log.write_text("short")
    rotate(log, largest_bytes=10)
    assert (log.read_text(), old.read_text()) == ("short", "x" * 11)
    log.write_text("y" * 11)
    rotate(log, largest_bytes=10)
    assert old.read_text() == "y" * 11
