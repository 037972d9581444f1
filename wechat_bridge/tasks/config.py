"""The bridge's own celeryconfig, wherever the process was started."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import wechat_bridge

NAME = "celeryconfig"


@lru_cache(maxsize=1)
def celery_options() -> ModuleType:
    """Return the ``celeryconfig`` that belongs to this package.

    It lies beside the package, in a checkout and when installed. By name, Python would look in the current folder
    first, which Celery puts on the path, and run whatever celeryconfig.py lies there.
    """
    place = Path(wechat_bridge.__file__).parents[1] / f"{NAME}.py"
    spec = importlib.util.spec_from_file_location(NAME, place)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"{place} is missing: install wechat-celery-bridge again", name=NAME)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
