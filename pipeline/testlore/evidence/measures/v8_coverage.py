"""Node: V8's own coverage, which each process of a run writes when it ends.

Node runs each test file in a process of its own, so functions are known by test file. Where several ran in one process,
or a process holds none, as one that a test started, it counts for all of them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from testlore.evidence.junit import Case
from testlore.evidence.measures import Calls
from testlore.frameworks import union

IS_RUN = True

_NAME = re.compile(r"[\w$#.]+")  # others are made by V8, such as that of a class's initializer


def environment(folder: str) -> dict[str, str]:
    """The variable that makes V8 write its coverage."""
    return {"NODE_V8_COVERAGE": folder}


def calls(folder: str, copy: str, tests: Sequence[str], sources: Collection[str]) -> Calls:
    """For each source file, by which test files each of its functions was run, also while it was imported."""
    found: Calls = {}
    for process in _processes(folder):
        scripts = {path: script for script in process for path in [_path(script, copy)] if path}
        runners = {path for path in scripts if path in tests or union.is_test_file(path)} or set(tests) or {""}
        for path, script in scripts.items():
            if path in sources:
                for function in _called(script):
                    found.setdefault(path, {}).setdefault(function, set()).update(runners)
    return found


def _processes(folder: str) -> Iterator[list[dict[str, Any]]]:
    """The scripts that each process ran."""
    for name in sorted(os.listdir(folder)):
        if name.startswith("coverage-") and name.endswith(".json"):
            try:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    yield json.load(file)["result"]
            except (ValueError, KeyError, TypeError):  # the process was killed while it wrote
                continue


def _path(script: dict[str, Any], copy: str) -> str:
    """The path of a script in the copy; empty when it lies elsewhere."""
    url = urlsplit(script["url"])
    file = unquote(url.path)
    if url.scheme not in ("", "file") or not file.startswith(copy + os.sep):
        return ""
    return os.path.relpath(file, copy).replace(os.sep, "/")


def _called(script: dict[str, Any]) -> Iterator[str]:
    """The names of the functions that ran; without the first one, which is the module itself."""
    for function in script["functions"][1:]:
        if function["ranges"] and function["ranges"][0]["count"]:
            name = function["functionName"]
            yield name if _NAME.fullmatch(name) else ""


def runners_of(cases: Iterable[Case], runners: Collection[str]) -> set[str]:
    """The files of these cases. A case whose file the report does not say may be of any."""
    files = {case.file for case in cases}
    return set(runners) if "" in files else files & set(runners)
