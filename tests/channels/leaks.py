"""What of an error could end in a log."""

from __future__ import annotations

import traceback


def everything_said_by(error: BaseException) -> str:
    """Return the error's text, its repr and its printed traceback with all causes."""
    return "\n".join([str(error), repr(error), repr(error.args), *traceback.format_exception(error)])
