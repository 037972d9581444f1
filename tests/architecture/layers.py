"""Who may import whom, and a walk through the code that finds who does not keep to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.source import Source

PACKAGE = "wechat_bridge"

BASE = {"errors", "model"}
DOORS = {"store", "channels", "engines", "observe"}
SHELLS = {"tasks", "web", "cli", "local"}

MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "model": {"errors"},
    "settings": BASE,
    "live": BASE | {"settings"},
    **{door: BASE | {"settings"} for door in DOORS},
    "flow": BASE | {"settings", "live"} | DOORS,
    "gateway": BASE | {"settings", "live"} | DOORS,
    "tasks": BASE | {"settings", "live", "flow", "gateway", "wiring"} | DOORS,
    "web": BASE | {"settings", "live", "flow", "gateway", "wiring"} | DOORS,
    "local": BASE | {"settings", "simulators"} | DOORS,
    "cli": BASE | {"settings", "live", "flow", "gateway", "wiring", "local", "simulators"} | DOORS,
    "wiring": BASE | {"settings", "live", "flow", "gateway", "tasks"} | DOORS,
    "app": BASE | {"settings", "tasks", "wiring"} | DOORS,
    "simulators": set(),
    "celeryconfig": {"settings", "store"},
}
"""The part of the code (design: "The house"), and what it may import besides itself."""

DRIVERS = {"celery", "kombu", "requests", "urllib3", "pymongo", "bson", "redis"}
WORLD = DRIVERS | {
    "os", "io", "pathlib", "socket", "ssl", "select", "subprocess", "shutil", "tempfile", "threading", "asyncio",
    "logging", "http", "urllib.request", "httpx", "aiohttp", "fastapi", "structlog", "prometheus_client", "time",
}  # fmt: skip

FORBIDDEN: dict[str, set[str]] = {"flow": DRIVERS, "gateway": DRIVERS, "model": WORLD, "errors": WORLD}
"""Libraries a part may not import: what happens is told without drivers, what things are without the world."""


def violations(sources: list[Source]) -> list[str]:
    """Return one line for each import that breaks a rule: where, what, and which rule."""
    return [line for source in sources for found in _imports(source) for line in _judge(source, *found)]


def _imports(source: Source) -> Iterator[tuple[ast.stmt, str]]:
    """Yield every imported module, also those inside functions or for type checkers only."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join([*_parent(source, node.level), *([node.module] if node.module else [])])
            yield from ((node, f"{base}.{alias.name}") for alias in node.names)


def _parent(source: Source, level: int) -> list[str]:
    if not level:
        return []
    package = source.module.split(".")
    is_package = source.path.name == "__init__.py"
    return package[: len(package) - level + is_package]


def _judge(source: Source, node: ast.stmt, imported: str) -> Iterator[str]:
    part = _part(source.module)
    where = f"{source.at(node)} imports {imported}"
    for library in FORBIDDEN.get(part, set()):
        if imported == library or imported.startswith(f"{library}."):
            yield f"{where}, but {part} may not import {library}"
    if not imported.startswith(f"{PACKAGE}."):
        return
    target = _part(imported)
    if target != part and target not in MAY_IMPORT.get(part, set()):
        allowed = ", ".join(sorted(MAY_IMPORT.get(part, set()))) or "nothing of the rest"
        yield f"{where}, but {part} may import {allowed}"
    yield from _between_platforms(source.module, imported, where)


def _part(module: str) -> str:
    """Return the part of the code to which a module belongs."""
    names = module.split(".")
    return names[1] if names[0] == PACKAGE and len(names) > 1 else names[0]


def _between_platforms(module: str, imported: str, where: str) -> Iterator[str]:
    """Platforms are independent of each other, and what they share knows none of them."""
    if _part(module) != "channels" or _part(imported) != "channels":
        return
    platform, other = _platform(module), _platform(imported)
    if other in PLATFORMS and platform != other:
        rule = "platforms are independent of each other" if platform in PLATFORMS else "what platforms share knows none"
        yield f"{where}, but {rule}"


PLATFORMS = {"ilink", "wecom", "wecom_kf", "wecom_aibot", "feishu", "slack", "discord"}


def _platform(module: str) -> str:
    names = module.split(".")
    return names[2] if len(names) > 2 else ""
