"""The one type alias of the JSON objects on the wire."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
