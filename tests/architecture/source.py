"""Python files as the architecture tests read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One file: its place below the root, its text and its syntax tree."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def module(self) -> str:
        """Its dotted name."""
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def at(self, node: ast.AST) -> str:
        """Where a node stands, as an editor understands it."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}"

    def functions(self) -> Iterator[FunctionNode]:
        """Every function and method, nested ones too."""
        return (node for node in ast.walk(self.tree) if isinstance(node, FunctionNode))

    def docstrings(self) -> set[ast.expr]:
        """The nodes that are docstrings or strings that stand alone."""
        return {
            node.value
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }


def sources(root: Path, *folders: str) -> list[Source]:
    """Return every Python file in these folders (or files) of ``root``."""
    paths = [path for folder in folders for path in _python_files(root / folder)]
    return [Source(path.relative_to(root), text := path.read_text(), ast.parse(text, str(path))) for path in paths]


def _python_files(place: Path) -> list[Path]:
    return sorted(place.rglob("*.py")) if place.is_dir() else [place]
