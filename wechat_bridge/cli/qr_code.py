"""Draw a QR code in a terminal."""

from __future__ import annotations

import io

import segno


def drawing(text: str) -> str:
    """Return the code as lines of half blocks, to be printed in white on black."""
    out = io.StringIO()
    segno.make(text, error="l", micro=False).terminal(out=out, border=2, compact=True)
    return out.getvalue().rstrip()
