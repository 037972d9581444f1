"""The report of a run, one page."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from tests.soak.evidence import clock
from tests.soak.plan import all_kinds
from tests.soak.run import Outcome

MOST_VIOLATIONS = 25


def show(outcome: Outcome, console: Console) -> None:
    """Print the report."""
    plan, verdict = outcome.plan, outcome.verdict
    without = f", without {plan.without}" if plan.without else ""
    where = f"{plan.channels} personal accounts, {plan.apps} apps of WeCom, {plan.accounts} of its customer service"
    console.print(
        f"[bold]soak[/bold] {plan.messages} messages, seed {plan.seed}, {plan.cursor} cursor, {plan.users} users on "
        f"{where}{without}"
    )
    console.print(_figures(outcome))
    console.print(_faults(outcome))
    kept, dropped = outcome.evidence.spilled_callbacks, outcome.evidence.dropped_callbacks
    console.print(f"callbacks kept outside the ledger: {kept}, left unanswered for WeCom to repeat: {dropped}")
    for turn in verdict.given_up_as_designed:
        console.print(f"given up as designed: {turn}", markup=False)
    for letter in outcome.evidence.dead_letters:
        console.print(f"dead letter {letter['_id']}: {letter['stage']}, {letter['error']}", markup=False)
    for text in verdict.violations[:MOST_VIOLATIONS]:
        console.print(f"- {text}", markup=False)
    if len(verdict.violations) > MOST_VIOLATIONS:
        console.print(f"- and {len(verdict.violations) - MOST_VIOLATIONS} more")
    console.print("[red]violations: see above[/red]" if verdict.violations else "[green]no violation[/green]")


def _figures(outcome: Outcome) -> Table:
    verdict = outcome.verdict
    table = Table("messages", "answered", "twice", "lost", "out of order", "given up", "repeats", "drained in")
    table.add_row(
        *(str(figure) for figure in (verdict.messages, verdict.answered, len(verdict.twice), len(verdict.lost))),
        *(str(figure) for figure in (len(verdict.out_of_order), len(verdict.given_up), verdict.repeats)),
        f"{outcome.drain_seconds:.0f} s",
    )
    for excuse, count in verdict.excused.items():
        table.caption = f"{table.caption or ''} {count} not held against it: {excuse}."
    return table


def _faults(outcome: Outcome) -> Table:
    counts = outcome.record.counts()
    table = Table("fault", "times", "fault", "times", "fault", "times")
    kinds = all_kinds()
    for row in range(0, len(kinds), 3):
        table.add_row(*(cell for kind in kinds[row : row + 3] for cell in (kind, str(counts[kind]))))
    if restarts := outcome.record.restarts:
        table.caption = "ended by themselves: " + ", ".join(f"{name} {clock(at)}" for name, at in restarts)
    return table
