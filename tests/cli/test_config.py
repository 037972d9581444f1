"""`wechat-bridge config`: settings are changed while the bridge runs (acceptance G5, G6)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from wechat_bridge.wiring import Wired

IDLE = "settings.debounce.idle_seconds"
FAULTY = {"settings": {"debounce": {"idle_seconds": -1}, "web_port": 1, "reply": {"apologie": "x"}}}


def said(cli: Cli, *arguments: str, typed: str = "") -> str:
    """What a command says that works and has no result."""
    done = cli("config", *arguments, typed=typed)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return done.stderr


def printed(cli: Cli, *arguments: str) -> str:
    done = cli("config", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def version(cli: Cli) -> int:
    return int(json.loads(printed(cli, "show", "--json"))["version"])


def test_g5_a_value_is_set_and_in_force_in_the_process_that_runs(cli: Cli, wired: Wired) -> None:
    told = said(cli, "set", IDLE, "2", "--note", "slow typists")
    assert f"{IDLE}: nothing -> 2" in told
    assert "in force in 1 of 1 processes" in told
    assert wired.bridge.settings.debounce.idle_seconds == 2
    shown = cli("config", "show")
    assert json.loads(shown.stdout)["settings"]["debounce"] == {"idle_seconds": 2}
    assert re.search(r"version \d+ by \S+@\S+ at 20\S+Z: slow typists", shown.stderr)


@pytest.mark.slow
def test_what_is_set_is_shown_listed_and_unset(cli: Cli) -> None:
    said(cli, "set", IDLE, "3")
    assert printed(cli, "show", IDLE) == "3.0\n"
    assert "settings.debounce.idle_seconds" in printed(cli, "history")
    said(cli, "unset", IDLE)
    assert printed(cli, "show", IDLE) == "1.0\n"


def test_g6_a_faulty_file_changes_nothing_and_every_fault_is_told(cli: Cli, wired: Wired, tmp_path: Path) -> None:
    before = wired.configuration.show().number
    (tmp_path / "faulty.json").write_text(json.dumps(FAULTY))
    refused = cli("config", "apply", "faulty.json")
    assert (refused.returncode, wired.configuration.show().number) == (2, before)
    for place in (IDLE, "settings.web_port", "settings.reply.apologie"):
        assert place in refused.stderr
    assert "WECHAT_BRIDGE_WEB_PORT" in refused.stderr
    (tmp_path / "half.json").write_text(json.dumps(FAULTY)[:-3])
    half = cli("config", "apply", "half.json")
    assert (half.returncode, "half.json is not whole JSON" in half.stderr) == (2, True)
    assert wired.configuration.show().number == before


@pytest.mark.slow
def test_g6_a_file_is_applied_over_the_version_it_was_based_on_and_rolled_back(cli: Cli, tmp_path: Path) -> None:
    first = version(cli)
    (tmp_path / "c.json").write_text('{"settings": {"reply": {"apology": "稍等"}}}')
    assert 'settings.reply.apology: nothing -> "稍等"' in said(cli, "apply", "c.json", "--if-version", str(first))
    late = cli("config", "apply", "c.json", "--if-version", str(first))
    assert (late.returncode, f"the newest version is {first + 1}, not {first}" in late.stderr) == (1, True)
    assert "nothing is changed" in said(cli, "apply", "c.json")
    assert '-> "稍等"' not in said(cli, "rollback", str(first))
    assert version(cli) == first + 2
    assert json.loads(printed(cli, "show", "--version", str(first + 1), "--json"))["document"] == {
        "settings": {"reply": {"apology": "稍等"}}
    }


@pytest.mark.slow
def test_a_secret_comes_by_stdin_and_is_never_shown_and_what_is_shown_can_be_applied(cli: Cli, tmp_path: Path) -> None:
    engine = '{"kind": "openai", "model": "m", "base_url": "http://127.0.0.1:9"}'
    said(cli, "set", "settings.engines.own", engine)
    told = said(cli, "set", "settings.engines.own.api_key", "-", typed="sk-never-shown\n")
    outputs = [printed(cli, *each) for each in (["show"], ["show", "--json"], ["show", "settings"], ["history"])]
    assert "never-shown" not in told + "".join(outputs)
    (tmp_path / "c.json").write_text(outputs[0].replace('"m"', '"m2"'))
    said(cli, "apply", "c.json")
    assert printed(cli, "show", "settings.engines.own.model") == "m2\n"
    assert "own" in cli("engine", "list").stdout, "other commands know what the document describes"
    refused = cli("config", "set", "settings.engines.own.api_key", "-", typed="schlüssel-secret\n")
    assert refused.returncode == 2
    assert "schl" not in refused.stderr


@pytest.mark.slow
def test_what_does_not_exist_is_refused_in_one_line(cli: Cli) -> None:
    missing = cli("config", "apply", "missing.json")
    assert (missing.returncode, "missing.json cannot be read" in missing.stderr) == (2, True)
    for arguments, reason in (
        (["show", "settings.nothing"], "there is no settings.nothing"),
        (["rollback", "999"], "there is no version 999"),
        (["unset", "settings.sweep.ceiling"], "says nothing there"),
        (["set", "a..b", "1"], "as in settings.debounce.idle_seconds"),
    ):
        refused = cli("config", *arguments)
        assert (refused.returncode, refused.stdout) == (1, ""), refused.stderr
        assert reason in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
