"""unittest: ``python -m unittest``. It writes no report, so our own script runs it and writes one."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

from testlore.errors import Refusal
from testlore.frameworks import (
    FILES,
    JUNIT,
    WHOLE,
    Command,
    Extent,
    ProjectFiles,
    ReportWords,
    plain_argument,
    programs,
    python,
)

NAME = "unittest"
IS_PYTHON = True
MEASURE = "coverage"
TOOL_FILES: tuple[str, ...] = python.TOOL_FILES
TEST_SUPPORT: tuple[str, ...] = python.TEST_SUPPORT
PROTECTED: tuple[str, ...] = python.PROTECTED
REPORT = ReportWords(file_messages=("collection failure",))  # as our script writes it

_RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runners", "unittest_junit.py")

program = python.program
is_test_file = python.is_test_file
is_outer = python.is_outer
file_argument = plain_argument


def runs(runner: Sequence[str]) -> bool:
    """Whether a runner names unittest."""
    return NAME in programs(runner)


def fits(files: ProjectFiles) -> bool:
    """Whether it is a Python project: unittest needs no file of its own."""
    return files.has("pyproject.toml", "setup.cfg", "setup.py")


def default_runner() -> list[str]:
    """``python -m unittest``."""
    return [sys.executable, "-m", "unittest", FILES]


def with_report(runner: list[str], report: str) -> Command:
    """The runner with our own script instead of ``-m unittest``.

    Raises:
        Refusal: ``runner-missing``: the runner has no ``-m unittest``.
    """
    at = next((at for at in range(len(runner) - 1) if runner[at : at + 2] == ["-m", "unittest"]), None)
    if at is None:
        raise Refusal("runner-missing", f"runner is {runner}; allowed for unittest: -m unittest in it, or {JUNIT}")
    return Command([*runner[:at], _RUNNER, report, *runner[at + 2 :]], {})


def limited(runner: list[str], extent: Extent) -> list[str]:
    """The runner with ``-f`` to stop early. Its discovery takes no files, so it is told the name of the one file."""
    if "discover" in runner and extent.only:
        names = {path.rpartition("/")[2] for path in extent.only}
        pattern = ["-p", *names] if len(names) == 1 else []  # it takes one pattern; else all tests run
        runner = [*(part for part in runner if part != FILES), *pattern]
    return [*runner, "-f"] if extent.stop_early else runner


def file_arguments(runner: Sequence[str], files: Sequence[str]) -> list[str]:
    """The files that unittest's discovery would find, and other tests by name; none for a runner with ``discover``."""
    if "discover" in runner:
        return []
    return [path for path in files if re.search(r"(^|/)test[^/]*\.py$", path) or is_test_file(path)]


def ran_to_end(status: int, *, stopped_early: bool = False) -> bool:
    """Whether the suite was not ended by a signal."""
    return status >= 0


def environment(copy: str, folder: str, extent: Extent = WHOLE) -> dict[str, str]:
    """The variables that runs need: none."""
    return {}
