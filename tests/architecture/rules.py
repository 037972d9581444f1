"""The rules of the house that a program can check, each returning one line for each place that breaks it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.architecture.source import FunctionNode, Source

MOST_FUNCTION_LINES = 40
MOST_FILE_LINES = 300

BROAD = {"Exception", "BaseException"}
MAY_CATCH_ANYTHING = {"wechat_bridge/tasks/base.py", "wechat_bridge/local/supervisor.py"}

UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|NotImplemented" r"Error)\b")
MACHINE_PATH = re.compile(r"(?<![\w/.}-])/(?:wo" r"rk|ro" r"ot|fa" r"rm)(?![\w-])")
REGISTRY = re.compile(r"py" r"pi\.org|python" r"hosted\.org|registry\.npm" r"js\.org|docker\." r"io")


def long_functions(source: Source) -> list[str]:
    """Functions of more lines than a person keeps in mind; decorators do not count, docstrings do."""
    return [
        f"{source.at(node)} {node.name} has {lines} lines, {MOST_FUNCTION_LINES} are allowed"
        for node in source.functions()
        if (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > MOST_FUNCTION_LINES
    ]


def long_files(source: Source) -> list[str]:
    """Files that hold more than one concept."""
    lines = len(source.text.splitlines())
    return [f"{source.path}:1 has {lines} lines, {MOST_FILE_LINES} are allowed"] if lines > MOST_FILE_LINES else []


def broad_handlers(source: Source) -> list[str]:
    """Places that catch, or suppress, errors they do not name."""
    if source.path.as_posix() in MAY_CATCH_ANYTHING:
        return []
    handlers = [
        node for node in ast.walk(source.tree) if isinstance(node, ast.ExceptHandler) and _catches_anything(node.type)
    ]
    suppressed = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and _name(node.func) == "suppress" and any(map(_catches_anything, node.args))
    ]
    return [f"{source.at(node)} catches errors that it does not name" for node in (*handlers, *suppressed)]


def _catches_anything(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(map(_catches_anything, caught.elts))
    return caught is None or _name(caught) in BROAD


def unfinished(path: Path, text: str) -> list[str]:
    """Words that say that something is missing."""
    return _lines_with(path, text, UNFINISHED, "is not finished")


def local_names(path: Path, text: str) -> list[str]:
    """Names that mean something on one machine only, or depend on where packages come from."""
    return _lines_with(path, text, MACHINE_PATH, "names a path of one machine") + _lines_with(
        path, text, REGISTRY, "names the host of a registry"
    )


def _lines_with(path: Path, text: str, pattern: re.Pattern[str], complaint: str) -> list[str]:
    numbered = enumerate(text.splitlines(), start=1)
    return [f"{path}:{number} {complaint}: {line.strip()}" for number, line in numbered if pattern.search(line)]


def silent_members(source: Source) -> list[str]:
    """Members of enums without a word for the person on call."""
    commented = {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline)
        if token.type == tokenize.COMMENT
    }
    return [
        f"{source.at(member)} {node.name} has a member without a comment on its line"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef) and any(_name(base).endswith(("Enum", "Flag")) for base in node.bases)
        for member in node.body
        if isinstance(member, ast.Assign) and member.lineno not in commented
    ]


def redis_prefixes(keys: Source) -> set[str]:
    """Return what the keys of ``store/redis_keys.py`` begin with, up to where a name is filled in."""
    return {text for text in _literals(keys) if text.endswith(":") and " " not in text and text != ":"}


def stray_redis_keys(source: Source, prefixes: Iterable[str]) -> list[str]:
    """Literals that spell a Redis key outside the one module that knows them."""
    known = tuple(prefixes)
    skipped = source.docstrings()
    return [
        f"{source.at(node)} spells a Redis key, {node.value!r}; use store/redis_keys.py"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and node not in skipped
        if isinstance(node.value, str) and node.value.startswith(known)
    ]


def _literals(source: Source) -> Iterator[str]:
    skipped = source.docstrings()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in skipped:
            yield node.value


def undocumented(source: Source) -> list[str]:
    """Public modules, classes and functions that do not say what they mean."""
    found = [] if ast.get_docstring(source.tree) else [f"{source.path}:1 says not what it is about"]
    return found + [f"{source.at(node)} {node.name} has no docstring" for node in _public(source.tree)
                    if not ast.get_docstring(node)]  # fmt: skip


def _public(node: ast.Module | ast.ClassDef) -> Iterator[ast.ClassDef | FunctionNode]:
    for child in node.body:
        if not isinstance(child, ast.ClassDef | FunctionNode) or child.name.startswith("_"):
            continue
        if any(_name(decorator) in {"overload", "override", "setter"} for decorator in child.decorator_list):
            continue
        yield child
        if isinstance(child, ast.ClassDef):
            yield from _public(child)


def idle_tests(tests: list[Source], helpers: list[Source]) -> list[str]:
    """Tests that assert nothing: neither themselves nor in a helper they call."""
    asserting: set[str] = set()
    functions = [node for source in (*tests, *helpers) for node in source.functions()]
    while more := {node.name for node in functions if node.name not in asserting and _asserts(node, asserting)}:
        asserting |= more
    return [
        f"{source.at(node)} {node.name} asserts nothing"
        for source in tests
        for node in source.functions()
        if node.name.startswith("test_") and node.name not in asserting
    ]


def _asserts(function: FunctionNode, asserting: set[str]) -> bool:
    checks = {"raises", "warns", "fail"} | asserting
    return any(
        isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and _name(node.func) in checks)
        for node in ast.walk(function)
    )


def _name(node: ast.expr) -> str:
    """Return the last part of a dotted name, called or not."""
    if isinstance(node, ast.Call):
        return _name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
