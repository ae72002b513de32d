"""Makes every Python that a test run starts import the copy of the project, and never the original.

Python imports this module when it starts. By then it has read the ``.pth`` files and installed the finders of projects
in editable mode. From then on, an import that would find a source file of the original finds that of the copy. Files
that are no sources, such as a compiled extension or a generated version file, are still imported from the original.

This module runs in the project's own interpreter, so it uses only the standard library.
"""

from __future__ import annotations

import atexit
import importlib.machinery
import importlib.util
import json
import os
import sys
from typing import Any

_FOREIGN = frozenset(["site-packages", "dist-packages", "node_modules", ".venv", "venv", ".tox", ".nox"])
_HERE = os.path.dirname(os.path.abspath(__file__))


class _Project:
    """The original and its copy.

    Attributes:
        original, copy: their folders, as real paths.
        witness: a folder for notes that are read after the run.
    """

    def __init__(self, description: dict[str, Any]) -> None:
        self.original: str = description["original"]
        self.copy: str = description["copy"]
        self.witness: str = description["witness"]
        self._sources: str = description["sources"]
        self._known: frozenset[str] | None = None
        self._folders: frozenset[str] = frozenset()
        self._prefix = os.path.realpath(sys.prefix)

    def relative(self, path: object) -> str | None:
        """A path below the original; ``None`` when it is elsewhere, or in an environment such as ``.venv``."""
        if not isinstance(path, str) or not path:
            return None
        real = os.path.realpath(path)
        if real == self.original:
            return ""
        if not _lies_in(real, self.original) or _lies_in(real, self.copy):
            return None
        if _lies_in(real, os.path.realpath(_HERE)) or real == os.path.realpath(_HERE):  # the project is ours
            return None
        if self._prefix != self.original and (real == self._prefix or _lies_in(real, self._prefix)):
            return None
        below = os.path.relpath(real, self.original)
        if _FOREIGN.intersection(below.split(os.sep)) and not self._holds_sources(below):
            return None
        return below

    def mapped(self, path: str) -> str:
        """A path in the original as a path in the copy; any other path as it is."""
        below = self.relative(path)
        return path if below is None else os.path.join(self.copy, below) if below else self.copy

    def is_source(self, below: str) -> bool:
        """Whether a file of the original is one of its sources. A source that the copy lacks was deleted on purpose."""
        return below.replace(os.sep, "/") in self._read_sources()

    def _holds_sources(self, below: str) -> bool:
        """Whether a file or folder in an environment's folder is, or holds, a source: git may track it."""
        return self.is_source(below) or below.replace(os.sep, "/") in self._folders

    def _read_sources(self) -> frozenset[str]:
        if self._known is None:
            with open(self._sources, encoding="utf-8", errors="surrogateescape") as file:
                self._known = frozenset(json.load(file))
            parts = [path.split("/") for path in self._known]
            self._folders = frozenset("/".join(part[:depth]) for part in parts for depth in range(1, len(part)))
        return self._known

    def holds(self, path: str) -> bool:
        """Whether a file is one of the original, or of its copy."""
        return _lies_in(os.path.realpath(path), self.copy) or self.relative(path) is not None

    def note(self, what: str) -> None:
        """Leave a note in the witness folder."""
        with open(os.path.join(self.witness, f"{what}-{os.getpid()}"), "w"):
            pass


def _lies_in(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


class _CopyFinder:
    """Asks the other finders. What they find in the original, it replaces by the same file of the copy."""

    def __init__(self, project: _Project) -> None:
        self._project = project

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """See :meth:`importlib.abc.MetaPathFinder.find_spec`."""
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None or finder in _BUILT_IN:
                continue
            spec = find(name, path, target)
            if spec is not None:
                return self._in_copy(name, spec)
        return self._generated(name, path)

    def _in_copy(self, name: str, spec: Any) -> Any:
        below = self._project.relative(spec.origin) if spec.has_location or spec.origin else None
        if spec.origin and below is not None:
            inside = os.path.join(self._project.copy, below)
            if os.path.isfile(inside):
                folders = spec.submodule_search_locations
                mapped = None if folders is None else [self._project.mapped(folder) for folder in folders]
                return importlib.util.spec_from_file_location(name, inside, submodule_search_locations=mapped)
            if self._project.is_source(below):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            return spec
        if spec.origin is None and spec.submodule_search_locations is not None:
            folders = list(spec.submodule_search_locations)
            mapped = list(dict.fromkeys(self._project.mapped(folder) for folder in folders))
            if mapped != folders:
                found = importlib.machinery.ModuleSpec(name, None, is_package=True)
                found.submodule_search_locations = [folder for folder in mapped if os.path.isdir(folder)]
                return found
        return spec

    def _generated(self, name: str, path: Any) -> Any:
        """A module of the original that the copy's package lacks because it is no source."""
        folders = []
        for folder in path or ():
            real = os.path.realpath(folder) if isinstance(folder, str) else ""
            if real == self._project.copy or _lies_in(real, self._project.copy):
                folders.append(os.path.join(self._project.original, os.path.relpath(real, self._project.copy)))
        spec = importlib.machinery.PathFinder.find_spec(name, folders) if folders else None
        if spec is None or not spec.has_location:
            return None
        below = self._project.relative(spec.origin)
        return spec if below is not None and not self._project.is_source(below) else None


_BUILT_IN = (importlib.machinery.BuiltinImporter, importlib.machinery.FrozenImporter)


def _redirect_path(project: _Project) -> None:
    """Replace folders of the original on the search path, and put the copy before the installed packages."""
    mapped = []
    for entry in sys.path:
        place = project.mapped(entry)
        if place == entry or os.path.exists(place):
            mapped.append(place)
    first = next((at for at, entry in enumerate(mapped) if _FOREIGN.intersection(entry.split(os.sep))), len(mapped))
    source = os.path.join(project.copy, "src")
    own = [project.copy]
    if os.path.isdir(source) and not os.path.exists(os.path.join(source, "__init__.py")):
        own.insert(0, source)
    sys.path[:] = list(dict.fromkeys([*mapped[:first], *own, *mapped[first:]]))


def _redirect_finders(project: _Project) -> None:
    """Replace the paths that the finders of editable installations hold: those of setuptools and of ``editables``."""
    for finder in sys.meta_path:
        module = sys.modules.get(getattr(finder, "__module__", "") or "")
        for holder, key in ((module, "MAPPING"), (finder, "_redirections")):
            table = getattr(holder, key, None)
            if isinstance(table, dict):
                for name, place in table.items():
                    if isinstance(place, str) and os.path.exists(project.mapped(place)):
                        table[name] = project.mapped(place)
        spaces = getattr(module, "NAMESPACES", None)
        if isinstance(spaces, dict):
            for name, places in spaces.items():
                if isinstance(places, list):
                    spaces[name] = [project.mapped(place) for place in places]


def _note_breach(project: _Project) -> None:
    """Leave a note if a source of the original was imported nevertheless."""
    for module in list(sys.modules.values()):
        below = project.relative(getattr(module, "__file__", None))
        if below and project.is_source(below):
            project.note("original")
            return


def _next_sitecustomize() -> None:
    """Run the project's own ``sitecustomize``, which this one hides."""
    elsewhere = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def _measure(project: _Project) -> None:
    """Measure what the tests of this process run, if the run is a measured one."""
    try:
        folder = os.environ["TESTLORE_MEASURE"]
        with open(os.path.join(folder, "measure.json"), encoding="utf-8") as file:
            how = json.load(file)
    except (KeyError, OSError):
        return
    spec = importlib.util.spec_from_file_location("_testlore_start_coverage", how["script"])
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.start(folder, how, project.copy, project.holds)


def _install() -> _Project | None:
    try:
        with open(os.path.join(os.environ["TESTLORE_RUN"], "project.json"), encoding="utf-8") as file:
            project = _Project(json.load(file))
    except (KeyError, OSError):  # this process is not part of a run, or the run has ended
        return None
    _redirect_path(project)
    _redirect_finders(project)
    sys.meta_path.insert(0, _CopyFinder(project))
    atexit.register(_note_breach, project)
    project.note("copy")
    return project


_project = _install()
_next_sitecustomize()
if _project is not None:
    _measure(_project)  # last, since the project's own sitecustomize may measure already
