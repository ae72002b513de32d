"""Starts coverage.py in a Python of a measured run, unless somebody else measures it already.

``sitecustomize`` runs this in the project's own interpreter, so it uses only the standard library and coverage.py: the
project's own, else ours. The data go into the run's folder, and the project's own settings are not read. Nothing here
may disturb a suite: where two cannot measure at once, or anything fails, ours steps back.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any

_NAME = "coverage"
_WARNINGS = (
    *("no-data-collected", "module-not-imported", "module-not-measured", "already-imported", "couldnt-parse"),
    *("trace-changed", "no-ctracer", "no-sysmon", "no-sysmon-context", "dynamic-conflict", "include-ignored", "fork"),
)


def start(folder: str, ours: dict[str, Any], copy: str, is_in_project: Callable[[str], bool]) -> None:
    """Measure this process until it ends.

    Args:
        folder: where the data go.
        ours: ``folder``, the folder that our coverage.py is installed in, and ``oldest``, the oldest Python for it.
        copy: the copy of the project, the only code that is measured.
        is_in_project: whether a file is one of the project's, or of its copy.
    """
    try:
        if sys.gettrace() is not None:  # a debugger, or the project's own coverage.py
            return
        coverage = _coverage(ours, is_in_project)
        if coverage is None or coverage.Coverage.current() is not None:
            return
        measured = coverage.Coverage(
            data_file=os.path.join(folder, "data"),
            data_suffix=True,
            config_file=False,
            include=[os.path.join(copy, "*")],
            context=os.environ.get("PYTEST_CURRENT_TEST"),  # the case that started this process, if pytest runs it
        )
        measured.set_option("run:disable_warnings", list(_WARNINGS))
        measured.set_option("run:dynamic_context", "test_function")
        _set_core(measured)
        atexit.register(_save, measured)  # coverage.py registers its own function later, so that it stops before
        measured.start()
    except Exception:  # noqa: S110 - no fault of ours may become one of the suite
        pass


def _coverage(ours: dict[str, Any], is_in_project: Callable[[str], bool]) -> Any:
    """The module of coverage.py; ``None`` where there is none, or where the project has a module of that name."""
    found = importlib.util.find_spec(_NAME)
    if found is None:
        return _borrowed(ours)
    if found.origin is None or is_in_project(found.origin):
        return None
    return importlib.import_module(_NAME)


def _borrowed(ours: dict[str, Any]) -> Any:
    """Our coverage.py, without its neighbours. Where its C tracer does not fit this Python, it traces in Python."""
    if sys.version_info[:2] < tuple(ours["oldest"]):
        return None
    spec = importlib.machinery.PathFinder.find_spec(_NAME, [ours["folder"]])
    if spec is None or spec.loader is None:
        return None
    module = sys.modules[_NAME] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception:
        for name in [name for name in sys.modules if name == _NAME or name.startswith(f"{_NAME}.")]:
            del sys.modules[name]
        return None
    return module


def _set_core(measured: Any) -> None:
    """Choose the tracer that knows contexts. Older versions have no other one, and do not know the option."""
    with contextlib.suppress(Exception):
        measured.set_option("run:core", "ctrace")


def _save(measured: Any) -> None:
    with contextlib.suppress(Exception):  # without data the suite has still ended as it did
        measured.save()
