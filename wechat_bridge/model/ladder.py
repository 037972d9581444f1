"""What to do when WeChat refuses a send with -2: one code for a stale context, a burst, a spent budget and more.

Reports contradict each other: with the same words, one server wanted another context token at once, another one wanted
silence and punished each further try (field reports 4 and 9). So there is one further try in all. It comes at once
where the account has been quiet, because then only the token can be at fault; else it comes after a pause.
"""

from __future__ import annotations

from enum import StrEnum

BURST_SECONDS = 2.0
"""Sends of one account that follow each other within this may be a burst to WeChat (three in a second were)."""

PAUSE_AFTER_BURST_SECONDS = 65.0
PAUSE_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 600.0


class Step(StrEnum):
    """What follows a refused send."""

    OTHER_TOKEN = "other_token"  # once more at once, with a newer context token or with none
    PAUSE = "pause"  # once more, when the account has been quiet for a while
    STOP = "stop"  # no more until the person writes again


QUOTA_FIRST_SECONDS = 60.0
QUOTA_MOST_SECONDS = 3_600.0


def quota_seconds(refusals_in_row: int) -> float:
    """Return how long an app should be quiet whose calls are used up.

    Its block lasts as long as the window that was used up: a minute, an hour or a day; WeCom does not say which.
    """
    return min(QUOTA_FIRST_SECONDS * 2.0 ** min(refusals_in_row, 10), QUOTA_MOST_SECONDS)


def next_step(refusals_before: int, since_last_send_seconds: float | None) -> Step:
    """Return what follows the refusal of a chunk that was refused so often before."""
    if refusals_before > 0:
        return Step.STOP
    is_burst = since_last_send_seconds is not None and since_last_send_seconds < BURST_SECONDS
    return Step.PAUSE if is_burst else Step.OTHER_TOKEN


def pause_seconds(step: Step, refusals_in_row: int) -> float:
    """Return how long the whole account should be quiet, longer with each refusal in a row."""
    first = PAUSE_AFTER_BURST_SECONDS if step is Step.PAUSE else PAUSE_SECONDS
    return min(first * 2.0 ** min(refusals_in_row, 10), LONGEST_PAUSE_SECONDS)
