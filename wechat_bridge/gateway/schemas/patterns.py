"""Regular expressions of the configuration, on texts of strangers: in linear time, whatever both are.

They are those of pydantic's engine (Rust's ``regex``): without look-around and back references, which cannot be had in
linear time and are refused when rules are checked.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated

from pydantic import StringConstraints, TypeAdapter, ValidationError
from pydantic_core import SchemaError


@lru_cache(maxsize=1_024)
def _adapter(pattern: str) -> TypeAdapter[str]:
    return TypeAdapter(Annotated[str, StringConstraints(pattern=pattern)])


def check_pattern(pattern: str) -> None:
    """Raises ValueError for a pattern that cannot be used, with the reason."""
    try:
        _adapter(pattern)
    except SchemaError as error:
        reason = " ".join(re.split("error: ", str(error), flags=re.IGNORECASE)[-1].split())
        raise ValueError(f"cannot be used as a pattern ({reason})") from None


def found_in(pattern: str, text: str) -> bool:
    """Tell whether a pattern fits anywhere in a text."""
    try:
        _adapter(pattern).validate_python(text)
    except ValidationError:
        return False
    return True
