"""A short soak: every kind of fault happens, nothing is lost, nothing is answered twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from tests.soak.plan import FAULTS_PER_ROUND, Plan, all_kinds
from tests.soak.report import show
from tests.soak.run import run

pytestmark = [pytest.mark.story, pytest.mark.slow, pytest.mark.soak]


def test_six_hundred_messages_survive_five_faults_of_every_kind(tmp_path: Path) -> None:
    outcome = run(Plan(messages=600, seed=1), tmp_path)

    show(outcome, Console(width=120))
    counts = outcome.record.counts()
    assert outcome.verdict.messages >= 600
    assert [kind for kind in all_kinds() if counts[kind] < FAULTS_PER_ROUND] == []
    assert outcome.verdict.violations == []
