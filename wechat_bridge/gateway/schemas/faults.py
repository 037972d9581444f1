"""What is wrong with a payload: paths and reasons, never a value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import islice

from wechat_bridge.errors import ValidationError

MOST_FAULTS = 100
MOST_PATH_CHARACTERS = 256
MOST_REASON_CHARACTERS = 300
_PLAIN = re.compile(r"[^\s.\[\]\"\\\x00-\x1f]+")

Fault = tuple[str, str]
"""A path like ``user.addresses[0].zip``, "" for the whole, and what is wrong there."""


def path_of(steps: Iterable[object]) -> str:
    """Return names and positions as one path; a name that has points or blanks in it stands as ``["a.b"]``."""
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif _PLAIN.fullmatch(str(step)):
            path += f".{step}" if path else str(step)
        else:
            path += f"[{json.dumps(str(step))}]"
    return path if len(path) <= MOST_PATH_CHARACTERS else f"{path[:MOST_PATH_CHARACTERS]}..."


def shortened(reason: str) -> str:
    """Return a reason of bearable length."""
    return reason if len(reason) <= MOST_REASON_CHARACTERS else f"{reason[:MOST_REASON_CHARACTERS]}..."


def refusal(found: Iterable[Fault]) -> ValidationError:
    """Return the error for these faults (at least one), in the order of their paths; of many the first hundred."""
    faults = list(islice(found, MOST_FAULTS + 1))
    told = sorted(dict.fromkeys(faults[:MOST_FAULTS]))
    if len(faults) > MOST_FAULTS:
        told.append(("", "there is more that is wrong"))
    return ValidationError(f"the event does not fit its schema: {told[0][0] or 'the whole'} {told[0][1]}", told)
