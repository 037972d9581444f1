"""What goes wrong in a control command."""

from __future__ import annotations


class ControlError(Exception):
    """A control command cannot be done; the message says why and what to do."""
