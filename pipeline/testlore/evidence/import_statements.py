"""The import statements of Python source."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

_ALL = "*"

Node = ast.Import | ast.ImportFrom


class Import(NamedTuple):
    """One name that a statement imports.

    Attributes:
        level: how many dots stand before the module.
        module: the module; empty in ``from . import name``.
        name: what is imported from it; empty for the module itself.
        bound: how the code calls it.
    """

    level: int
    module: str
    name: str
    bound: str


def parse(source: str | bytes) -> ast.Module | None:
    """The syntax of a source; ``None`` if this interpreter cannot parse it."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def imports(node: Node) -> list[Import]:
    """What a statement imports."""
    if isinstance(node, ast.Import):
        return [Import(0, alias.name, "", alias.asname or alias.name) for alias in node.names]
    module = node.module or ""
    return [Import(node.level, module, alias.name, alias.asname or alias.name) for alias in node.names]


def needed(source: str, code: str) -> list[str]:
    """The import statements at the top of a source that bring a name which some code of it uses, without other names.

    ``from module import *`` may bring any name.
    """
    tree, user = parse(source), parse(code)
    if tree is None or user is None:
        return []
    used = {node.id for node in ast.walk(user) if isinstance(node, ast.Name)}
    statements = []
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            node.names = [alias for alias in node.names if _top(alias) in (*used, _ALL)]
            if node.names:
                statements.append(ast.unparse(node))
    return statements


def _top(alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def attributes(tree: ast.Module, bound: str) -> Iterable[str]:
    """The names of a module that code uses as attributes of it: ``clamp`` of ``shop.calc`` in ``shop.calc.clamp(1)``.

    Those that every module has, such as ``__file__``, are left out.

    Args:
        bound: how the code calls the module.
    """
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _dotted(node.value) == bound}
    return {name for name in used if not name.startswith("__")}


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return f"{_dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else ""
