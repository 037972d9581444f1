"""A short soak: every kind of fault happens, nothing is lost, nothing is answered twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from tests.soak.plan import Plan, all_kinds
from tests.soak.report import show
from tests.soak.run import run

pytestmark = [pytest.mark.story, pytest.mark.slow, pytest.mark.soak]


LEAST_ANSWERED = 0.95
"""WeCom gives up a callback within seconds, so the verdict excuses some; what it excuses must stay rare."""


def test_six_hundred_messages_of_three_platforms_survive_five_faults_of_every_kind(tmp_path: Path) -> None:
    plan = Plan(messages=600, seed=1)
    outcome = run(plan, tmp_path)

    show(outcome, Console(width=120))
    counts = outcome.record.counts()
    assert outcome.verdict.messages >= 600
    assert [kind for kind in all_kinds() if counts[kind] < plan.times(kind)] == []
    assert outcome.verdict.violations == []
    assert outcome.verdict.answered >= LEAST_ANSWERED * outcome.verdict.messages
