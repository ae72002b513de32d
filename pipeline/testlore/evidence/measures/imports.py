"""Any language: what test files import, and what that imports, as far as it is written down.

This needs no run. It tells what tests may run, by test file, and for Python by the test functions that use it. Names
are those that a test, or a file that helps tests, imports from the project. Imports of Python and JavaScript are known,
of the latter the relative ones.
"""

from __future__ import annotations

import ast
import os
import posixpath
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from testlore.evidence import import_statements, used_names
from testlore.evidence.functions import of_case
from testlore.evidence.import_statements import Import
from testlore.evidence.junit import Case
from testlore.evidence.measures import Calls
from testlore.frameworks import languages

IS_RUN = False

_MAX_BYTES = 1 << 20
_PACKAGE = "__init__.py"
_FIXTURES = "conftest.py"  # pytest imports it for the tests beside and below it
_ENDINGS = ("", ".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte")
_COMPILED = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_SCRIPT_IMPORT = re.compile(
    r"""\b(?P<how>from|import|(?:require|import)\s*\()\s*"""
    r"""(?P<quote>["'`])(?P<path>\.{1,2}(?:/[^"'`\n?]*)?)[^"'`\n]*(?P=quote)"""
)
_MOST_BEFORE = 2_000  # characters before a path, in which the names stand
#: What stands before the path of an import: the last statement that such a path can belong to.
_CLAUSES = {
    "from": re.compile(r"(?s).*\b(?:import|export)\b(?P<names>[^'\"`();]*)\Z"),
    "(": re.compile(r"(?s).*\b(?:const|let|var)\s(?P<names>[^'\"`();=]*)=\s*(?:await\s+)?\Z"),
}
_SCRIPT_NAME = re.compile(r"(?:type\s+)?(?P<name>[\w$]+)")


class _Project(NamedTuple):
    """Where the files are that are imported.

    Attributes:
        copy: their folder.
        roots: for each name that Python may import first, the folders that it lies in.
    """

    copy: str
    roots: dict[str, list[str]]

    def has(self, path: str) -> bool:
        """Whether there is a file of this path."""
        return not path.startswith("..") and os.path.isfile(os.path.join(self.copy, path))

    def read(self, path: str) -> bytes:
        """The beginning of a file; nothing if the run has removed it."""
        try:
            with open(os.path.join(self.copy, path), "rb") as file:
                return file.read(_MAX_BYTES)
        except OSError:
            return b""


class _Imported(NamedTuple):
    """What a file imports.

    Attributes:
        path: a file of the project.
        names: the names that are imported from it.
        bound: the name by which Python code can use it; empty where that is not known.
    """

    path: str
    names: set[str]
    bound: str = ""


def environment(folder: str) -> dict[str, str]:
    """None: imports are read, not run."""
    return {}


def calls(folder: str, copy: str, tests: Sequence[str], sources: Collection[str]) -> Calls:
    """For each source file that test files import, directly or by one other file, by which of them."""
    found: Calls = {}
    project = _Project(copy, _roots(sources))

    def add(path: str, names: Collection[str], runners: set[str]) -> None:
        if path in sources:
            for name in names or ("",):
                found.setdefault(path, {}).setdefault(name, set()).update(runners)

    for test in tests:
        uses = used_names.of_tests(project.read(test)) if languages.language(test) == "python" else {}
        for path, names, bound in [*_imported(project, test), *_fixtures(project, test)]:
            users = [function for function, used in uses.items() if bound in used] or list(uses)
            runners = {_runner(test, function) for function in users} or {test}
            add(path, names, runners)
            for further, more, _ in _imported(project, path):
                add(further, () if path in sources else more, runners)
    return found


def _runner(test: str, function: str) -> str:
    return f"{test}::{function}"


def runners_of(cases: Iterable[Case], runners: Collection[str]) -> set[str]:
    """The functions of these cases, else their files. A case whose file the report does not say may be of any."""
    found: set[str] = set()
    for case in cases:
        function = _runner(case.file, of_case(case.name))
        of_file = {one for one in runners if not case.file or one.partition("::")[0] == case.file}
        found |= {function} if function in of_file else of_file
    return found


def _roots(sources: Collection[str]) -> dict[str, list[str]]:
    """For each package, namespace and module that lies in no package, the folders that it lies in."""
    places = {place.removesuffix(".py") for path in sources if path.endswith(".py") for place in _upwards(path)}
    found: dict[str, list[str]] = {}
    for place in sorted(places):
        folder, name = posixpath.split(place)
        if posixpath.join(folder, _PACKAGE) not in sources:
            found.setdefault(name, []).append(folder)
    return found


def _fixtures(project: _Project, test: str) -> Iterator[_Imported]:
    if languages.language(test) == "python":
        for folder in _upwards(posixpath.dirname(test)):
            path = posixpath.join(folder, _FIXTURES)
            if project.has(path):
                yield _Imported(path, set())


def _imported(project: _Project, path: str) -> Iterator[_Imported]:
    """The files of the project that a file imports."""
    read = _by_python if languages.language(path) == "python" else _by_script
    yield from read(project, path, project.read(path))


def _by_python(project: _Project, path: str, source: bytes) -> Iterator[_Imported]:
    tree = import_statements.parse(source)
    if tree is None:
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for one in import_statements.imports(node):
                yield from _of_import(project, path, tree, one)


def _of_import(project: _Project, path: str, tree: ast.Module, one: Import) -> Iterator[_Imported]:
    parts = [part for part in one.module.split(".") if part]
    submodule = _module(project, path, one.level, [*parts, one.name]) if one.name else ""
    module = _module(project, path, one.level, parts)
    top = one.bound.partition(".")[0]
    if submodule:
        yield _Imported(submodule, set(import_statements.attributes(tree, one.bound)), top)
    elif module and one.name:
        yield _Imported(module, {one.name} - {"*"}, top)
    elif module:
        yield _Imported(module, set(import_statements.attributes(tree, one.bound)), top)


def _module(project: _Project, path: str, level: int, parts: list[str]) -> str:
    """The file of a module; empty when the project has none."""
    folders = list(_upwards(posixpath.dirname(path)))
    if level:
        roots = folders[level - 1 : level]
    else:  # a folder of a package is on no search path
        near = [root for root in folders if not project.has(posixpath.join(root, _PACKAGE))]
        far = [] if parts[0] in sys.stdlib_module_names else project.roots.get(parts[0], [])
        roots = [*near, *far]
    for root in roots:
        base = posixpath.join(root, *parts)
        for candidate in (f"{base}.py" if parts else "", posixpath.join(base, _PACKAGE)):
            if project.has(candidate):
                return candidate
    return ""


def _by_script(project: _Project, path: str, source: bytes) -> Iterator[_Imported]:
    text = source.decode("utf-8", "replace")
    for found in _SCRIPT_IMPORT.finditer(text):
        base = posixpath.normpath(posixpath.join(posixpath.dirname(path), found["path"]))
        target = next((one for one in _script_files(base) if project.has(one)), "")
        if target:
            before = text[max(0, found.start() - _MOST_BEFORE) : found.start()]
            how = "(" if found["how"].endswith("(") else found["how"]
            clause = _CLAUSES[how].match(before) if how in _CLAUSES else None
            yield _Imported(target, _script_names(clause["names"]) if clause else set())


def _script_files(base: str) -> Iterator[str]:
    """The files that a path in an import may mean, the likeliest first."""
    stem, ending = posixpath.splitext(base)
    yield from (base + one for one in _ENDINGS)
    yield from (stem + one for one in _COMPILED.get(ending, ()))
    yield from (f"{base}/index{one}" for one in _ENDINGS[1:])


def _script_names(clause: str) -> set[str]:
    """The names that are imported: ``a``, ``b`` and ``c`` of ``a, {b, c as d}``. A whole module has none of its own."""
    outer, _, braced = clause.partition("{")
    parts = [*outer.split(","), *braced.partition("}")[0].split(",")]
    names = [_SCRIPT_NAME.match(part.strip()) for part in parts]
    return {found["name"] for found in names if found} - {"default", "type"}


def _upwards(folder: str) -> Iterator[str]:
    """A path and the folders around it, up to the project's own, which is empty."""
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""
