"""Python: coverage.py, which knows for each line during which test functions it ran.

A run is measured by ``start_coverage.py``, in each of its processes. A process that a test of pytest's started is known
by the case that the environment names: all that it runs is run by that case.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from testlore import libraries
from testlore.evidence.functions import of_case
from testlore.evidence.junit import Case
from testlore.evidence.measures import Calls

IS_RUN = True

_HERE = os.path.dirname(os.path.abspath(__file__))
_DATA = "data."  # how the names of data files begin, each one a process's
#: The case that started a process, as pytest names it: its file, classes, function and parameters, and the phase.
_STARTER = re.compile(r"(?P<file>.+?\.py)::(?P<names>[\w:]+)")


class _Lines(NamedTuple):
    """The lines of a file that belong to functions.

    Attributes:
        functions: the qualified name of the function of each line in a body.
        single: the lines that hold a whole function. They run when it is defined, too.
    """

    functions: dict[int, str]
    single: frozenset[int]


def environment(folder: str) -> dict[str, str]:
    """The variable that starts coverage.py in each Python of a run; none if it is not installed with us."""
    import importlib.metadata
    import importlib.util

    try:
        with libraries.installed():
            spec = importlib.util.find_spec("coverage")
            needs = importlib.metadata.metadata("coverage")["Requires-Python"] or ""
    except importlib.metadata.PackageNotFoundError:
        return {}
    if spec is None or spec.origin is None:
        return {}
    how = {
        "script": os.path.join(_HERE, "start_coverage.py"),
        "folder": os.path.dirname(os.path.dirname(spec.origin)),
        "oldest": [int(part) for part in re.findall(r"\d+", needs)[:2]],
    }
    with open(os.path.join(folder, "measure.json"), "w", encoding="ascii") as file:
        json.dump(how, file)
    return {"TESTLORE_MEASURE": folder}


def calls(folder: str, copy: str, tests: Sequence[str], sources: Collection[str]) -> Calls:
    """For each source file, during which contexts of coverage.py each of its functions ran.

    Lines that run when a module is imported are no call of a function.
    """
    found: Calls = {}
    lines: dict[str, _Lines | None] = {}
    for path, contexts_of in _measured(folder, copy):
        if path not in sources:
            continue
        if path not in lines:
            lines[path] = _lines(os.path.join(copy, path))
        for function, contexts in _called(lines[path], contexts_of):
            if contexts:
                found.setdefault(path, {}).setdefault(function, set()).update(contexts)
    return found


def _measured(folder: str, copy: str) -> Iterator[tuple[str, dict[int, set[str]]]]:
    """The measured files of each process: the path in the copy, and in which contexts each line ran."""
    names = [name for name in os.listdir(folder) if name.startswith(_DATA) and not name.endswith("-journal")]
    if not names:
        return
    with libraries.installed():
        from coverage import CoverageData
        from coverage.exceptions import CoverageException

    for name in sorted(names):
        data = CoverageData(basename=os.path.join(folder, name))
        try:
            data.read()
            for file in sorted(data.measured_files()):
                if file.startswith(copy + os.sep):
                    contexts = data.contexts_by_lineno(file)
                    path = os.path.relpath(file, copy).replace(os.sep, "/")
                    yield path, {line: set(names) - {""} for line, names in contexts.items()}
        except CoverageException:  # a process was killed while it wrote
            continue
        finally:
            data.close()


def _lines(file: str) -> _Lines | None:
    """The lines of a file's functions; ``None`` if this interpreter cannot parse it."""
    try:
        with open(file, "rb") as opened:
            tree = ast.parse(opened.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    functions: dict[int, str] = {}
    single = set()
    for name, node in _definitions(tree, ""):
        first = node.body[0].lineno
        if first == node.lineno:
            single.add(first)
        functions.update(dict.fromkeys(range(first, (node.end_lineno or first) + 1), name))
    return _Lines(functions, frozenset(single))


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions and methods of a module. What is defined in a function belongs to it."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + inner.name, inner
        elif isinstance(inner, ast.ClassDef):
            yield from _definitions(inner, f"{prefix}{inner.name}.")
        elif isinstance(inner, (ast.stmt, ast.ExceptHandler)):
            yield from _definitions(inner, prefix)


def _called(lines: _Lines | None, contexts_of: dict[int, set[str]]) -> Iterator[tuple[str, set[str]]]:
    if lines is None:
        yield "", set().union(*contexts_of.values())
        return
    imported = set().union(*(contexts for line, contexts in contexts_of.items() if line not in lines.functions))
    for line, contexts in contexts_of.items():
        if line in lines.functions:
            yield lines.functions[line], contexts - imported if line in lines.single else contexts


def runners_of(cases: Iterable[Case], runners: Collection[str]) -> set[str]:
    """The contexts of these cases.

    A context names the module of its function, not the file. Where none is of the very class and file, as with an
    inherited test, all of functions of that name count.
    """
    named = [(runner, name) for runner in runners for name in _names(runner)]
    found: set[str] = set()
    for case in cases:
        function = of_case(case.name)
        of_file = {runner for runner, name in named if _is_of(name, case.file, function)}
        last = function.rpartition(".")[2]
        found |= of_file or {runner for runner, name in named if last and name.split(".")[-1] == last}
    return found


def _names(context: str) -> Iterator[str]:
    """The dotted names of the test functions of a context: of the case that started the process, and of its own."""
    for part in context.split("|"):
        starter = _STARTER.match(part)
        if starter is None:
            yield part
        else:
            module = starter["file"].removesuffix(".py").replace("/", ".")
            yield f"{module}.{starter['names'].replace('::', '.')}"


def _is_of(name: str, file: str, function: str) -> bool:
    """Whether a dotted name is that of a function in a file; without a function, of any in it."""
    parts = file.removesuffix(".py").split("/") if file else []
    modules = [".".join(parts[at:]) for at in range(len(parts))]
    if not function:
        return any(name.startswith(f"{module}.") for module in modules)
    return any(name == f"{module}.{function}" for module in modules) if modules else name.endswith(f".{function}")
