"""How the functions of a candidate's Python files differ from the project's: by their syntax, not by their text.

Comments, layout and docstrings do not count. A function whose body another one of the project has is *moved*, whatever
its name and its file.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

#: A function: its file, and its name with those of its classes, joined by dots.
Place = tuple[str, str]

_Definition = ast.FunctionDef | ast.AsyncFunctionDef


class Comparison(NamedTuple):
    """How functions differ.

    Attributes:
        known: the changed files whose functions are known: those that this interpreter can parse.
        differs: the functions of the candidate that no function of the project is like.
        redecorated: those that differ from the function of the same place by their decorators alone.
        moved: for each function that the project has elsewhere, where that is.
    """

    known: frozenset[str] = frozenset()
    differs: frozenset[Place] = frozenset()
    redecorated: frozenset[Place] = frozenset()
    moved: Mapping[Place, Place] = {}


class _Function(NamedTuple):
    """A function of a file.

    Attributes:
        body: its arguments and statements, as :func:`ast.dump` writes them.
        decorators: its decorators, likewise.
        imports: what the names in it are imported from; the same body with other imports is another test.
        names: the names in it.
    """

    body: str
    decorators: str
    imports: frozenset[str]
    names: frozenset[str]


def of_case(name: str) -> str:
    """The function that a case of Python's frameworks is of: its name without parameters, its classes before it."""
    return name.partition("[")[0].replace(" > ", ".")


def compare(
    before: Mapping[str, bytes], after: Mapping[str, bytes], others: Callable[[], Mapping[str, bytes]]
) -> Comparison:
    """Compare the functions of files before and after a change.

    Args:
        before: the old content of the Python files that the change replaces or deletes, by path.
        after: the content of the new and replaced ones.
        others: gives the Python files that the change leaves as they are, from which a function may have been copied.
            It is only called if a function is new.
    """
    old = {place: one for path, content in before.items() for place, one in (_read(path, content) or {}).items()}
    known, new = set(), {}
    for path, content in after.items():
        found = _read(path, content)
        if found is not None:
            known.add(path)
            new.update(found)
    unlike = {place: one for place, one in new.items() if old.get(place) != one}
    elsewhere = _by_body(old)
    wanted = {one.body: one.names for one in unlike.values() if one.body not in elsewhere}
    if wanted:
        for path, content in others().items():
            # Most files have not even the names of a new function, so they need not be parsed.
            if any(all(name.encode() in content for name in names) for names in wanted.values()):
                untouched = {place: one for place, one in (_read(path, content) or {}).items() if one.body in wanted}
                old.update(untouched)
                new.update(untouched)
        elsewhere = _by_body(old)
    differs, redecorated, moved = set(), set(), {}
    for place, one in unlike.items():
        source = _source(place, one, elsewhere.get(one.body, ()), old, new)
        if place in old and old[place].body == one.body and old[place].imports == one.imports:
            redecorated.add(place)
        elif source is not None:
            moved[place] = source
        else:
            differs.add(place)
    return Comparison(frozenset(known), frozenset(differs), frozenset(redecorated), moved)


def _by_body(functions: Mapping[Place, _Function]) -> dict[str, list[Place]]:
    found: dict[str, list[Place]] = {}
    for place, one in functions.items():
        found.setdefault(one.body, []).append(place)
    return found


def _source(
    place: Place,
    one: _Function,
    alike: Sequence[Place],
    old: Mapping[Place, _Function],
    new: Mapping[Place, _Function],
) -> Place | None:
    """Where a function comes from, if it is not new: a place that lost it before one that still has it."""
    gone = [other for other in alike if other not in new or new[other].body != one.body]
    copied = [other for other in alike if other not in gone and old[other].imports == one.imports]
    fitting = [other for other in (*gone, *copied) if other != place and old[other].decorators == one.decorators]
    return fitting[0] if fitting else None


def _read(path: str, content: bytes) -> dict[Place, _Function] | None:
    """The functions of a file; ``None`` if this interpreter cannot parse it."""
    try:
        tree = ast.parse(content)
        imports = dict(_imports(tree))
        return {(path, name): _function(node, imports) for name, node in _definitions(tree.body, "")}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _definitions(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, _Definition]]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{prefix}{node.name}.")


def _function(node: _Definition, imports: Mapping[str, str]) -> _Function:
    statements = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    parts = [type(node).__name__, ast.dump(_without_self(node.args)), *map(ast.dump, statements)]
    names = frozenset(inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))
    return _Function(
        "\n".join(parts),
        "\n".join(map(ast.dump, node.decorator_list)),
        frozenset(imports[name] for name in names & imports.keys()),
        names,
    )


def _without_self(arguments: ast.arguments) -> ast.arguments:
    """The arguments of a function, as they are when it stands in no class."""
    first = arguments.args[:1]
    if not first or first[0].arg not in ("self", "cls"):
        return arguments
    return ast.arguments(**{**dict(ast.iter_fields(arguments)), "args": arguments.args[1:]})


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Each name that a module imports, and what it stands for."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0], f"{alias.asname or ''} {alias.name}"
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{'.' * node.level}{node.module or ''} {alias.name} {alias.asname}"
