"""What commands write, and where."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator

import pytest

from wechat_bridge.cli.console import Reporter, print_fields, print_json, print_table, tell
from wechat_bridge.flow.login.view import drawing


def test_results_go_to_stdout_and_talk_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"name": "小店"})
    tell("working [on] it")
    written = capsys.readouterr()
    assert json.loads(written.out) == {"name": "小店"}
    assert written.err == "working [on] it\n"


def test_fields_are_aligned_and_empty_ones_are_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    print_fields({"a": "", "long": None, "b": 0})
    assert capsys.readouterr().out == "a     -\nlong  -\nb     0\n"


def test_a_table_has_a_line_for_each_row(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("A", "B"), [("1", "[x]"), ("2", "y")])
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [["A", "B"], ["1", "[x]"], ["2", "y"]]


def test_without_a_terminal_progress_is_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    reporter = Reporter()
    with reporter.busy("starting"):
        reporter.tell("one is ready")
    reporter.tell("done")
    assert capsys.readouterr().err == "one is ready\ndone\n"


@pytest.fixture
def broken_pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    reader, writer = os.pipe()
    os.close(reader)
    with io.TextIOWrapper(io.FileIO(writer, "w"), write_through=True) as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        yield


@pytest.fixture
def closed_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    master, slave = os.openpty()
    os.close(master)
    with io.TextIOWrapper(io.FileIO(slave, "w"), write_through=True) as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        yield


@pytest.mark.parametrize("gone", ["broken_pipe", "closed_terminal"])
def test_a_reader_that_is_gone_does_not_disturb_the_work(request: pytest.FixtureRequest, gone: str) -> None:
    request.getfixturevalue(gone)
    reporter = Reporter()
    for number in range(3):
        reporter.tell(f"line {number}")
    with pytest.raises(OSError, match=r"Broken pipe|Input/output error"):
        sys.stderr.write("what a line without care meets")


def test_a_qr_code_is_a_square_of_half_blocks_with_a_margin() -> None:
    lines = drawing("https://liteapp.weixin.qq.com/q/abcdef?qrcode=123&bot_type=3").splitlines()
    width = len(lines[0])
    assert {len(line) for line in lines} == {width}
    assert abs(2 * len(lines) - width) <= 1
    assert set("".join(lines)) == set("█▀▄ ")
    assert set(lines[0]) == {"█"}
