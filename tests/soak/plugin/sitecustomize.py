"""Python imports this at the start of every process of the soak.

It switches off the guard named in the environment, and lets a pull of customer service end where it hurts most.
"""

from __future__ import annotations

import os
from importlib import import_module

if guard := os.environ.get("SOAK_WITHOUT"):
    import_module("soak_guards").switch_off(guard)

if os.environ.get("SOAK_PULL_KILL"):
    import_module("soak_pull").let_pulls_die()
