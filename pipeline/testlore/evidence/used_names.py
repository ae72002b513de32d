"""The names that each test function of a Python file uses."""

from __future__ import annotations

import ast

from testlore.evidence import import_statements


def of_tests(source: bytes) -> dict[str, set[str]]:
    """For each test function, the names that it uses, also by way of what else is in the file.

    Names of arguments count, since pytest's fixtures are asked for by them. So do those that a class uses outside of
    its tests, as in a set-up.

    Returns:
        The names by the function's name, with those of its classes before it; nothing if this interpreter cannot parse
        the source.
    """
    tree = import_statements.parse(source)
    parts: dict[str, set[str]] = {}
    functions: dict[str, set[str]] = {}
    for node in tree.body if tree is not None else ():
        own = _add(node, "", functions)
        targets = node.targets if isinstance(node, ast.Assign) else []
        for name in [getattr(node, "name", ""), *(one.id for one in targets if isinstance(one, ast.Name))]:
            parts.setdefault(name, set()).update(own)
    return {function: _reached(used, parts) for function, used in functions.items()}


def _add(node: ast.AST, prefix: str, functions: dict[str, set[str]]) -> set[str]:
    """Add the test functions in a statement, and return the names that the rest of it uses."""
    if isinstance(node, ast.ClassDef):
        inside: dict[str, set[str]] = {}
        parts = [_add(inner, f"{prefix}{node.name}.", inside) for inner in ast.iter_child_nodes(node)]
        shared = set().union(*parts)
        functions.update({function: used | shared for function, used in inside.items()})
        return shared
    used = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    used |= {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
        functions[prefix + node.name] = used
        return set()
    return used


def _reached(used: set[str], parts: dict[str, set[str]]) -> set[str]:
    """Names, and those that the parts of a file with these names use in turn."""
    reached, pending = set(used), list(used)
    while pending:
        new = parts.get(pending.pop(), set()) - reached
        reached |= new
        pending += new
    return reached
