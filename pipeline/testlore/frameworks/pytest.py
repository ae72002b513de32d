"""pytest: finds the tests itself, and writes JUnit XML itself."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from testlore.frameworks import (
    FILES,
    WHOLE,
    Command,
    Extent,
    ProjectFiles,
    ReportWords,
    plain_argument,
    programs,
    python,
    with_last_options,
)

NAME = "pytest"
IS_PYTHON = True
MEASURE = "coverage"
TOOL_FILES: tuple[str, ...] = python.TOOL_FILES
TEST_SUPPORT: tuple[str, ...] = python.TEST_SUPPORT
PROTECTED: tuple[str, ...] = (*python.PROTECTED, "pytest.toml", ".pytest.toml", ".pytest.ini")
REPORT = ReportWords(
    # Of modules that could not be imported, or were skipped as a whole.
    file_messages=("collection failure", "collection skipped"),
    runner_names=(("pytest", "internal"),),
    teardown_messages=("failed on teardown with",),
    nameless_suites=("pytest",),
)

# A user sets these for every run.
_MEANT_FOR_ALL = (
    *("PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"),
    *("PYTEST_XDIST_AUTO_NUM_WORKERS", "PYTEST_TIMEOUT"),
)

#: A plugin of ours, on the search path of every run. It passes ``--no-cov`` on if there is pytest-cov to take it:
#: pytest refuses options that it does not know.
WITHOUT_COVERAGE = "testlore_without_coverage"

program = python.program
is_test_file = python.is_test_file
file_argument = plain_argument


def runs(runner: Sequence[str]) -> bool:
    """Whether a runner names pytest."""
    return NAME in programs(runner)


def fits(files: ProjectFiles) -> bool:
    """Whether the project has a file of pytest's, or a file that names pytest."""
    return files.has("pytest.ini", "conftest.py", "tests/conftest.py") or files.mention(
        "pytest", "pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt"
    )


def default_runner() -> list[str]:
    """``python -m pytest``."""
    return [sys.executable, "-m", "pytest", FILES]


def with_report(runner: list[str], report: str) -> Command:
    """The runner with ``--junitxml``, after one that it may have for itself: pytest writes to the last one."""
    return Command(with_last_options(runner, "pytest", [f"--junitxml={report}"]), {})


def limited(runner: list[str], extent: Extent) -> list[str]:
    """The runner as it is: its environment says the rest."""
    return runner


def file_arguments(runner: Sequence[str], files: Sequence[str]) -> list[str]:
    """None: pytest finds the test files itself."""
    return []


def ran_to_end(status: int, *, stopped_early: bool = False) -> bool:
    """Whether pytest ran every test. Above 1 it was interrupted, was called wrongly, or broke.

    With pytest-xdist, to stop at the first failure is to be interrupted.
    """
    return status in ((0, 1, 2) if stopped_early else (0, 1))


def environment(copy: str, folder: str, extent: Extent = WHOLE) -> dict[str, str]:
    """Options for every pytest of a run: its cache is the run's own, and its report names the file of each case."""
    import os
    import shlex

    # Only pytest's older kind of report names files.
    options = ["-o", f"cache_dir={os.path.join(folder, 'pytest-cache')}", "-o", "junit_family=xunit1"]
    options += ["-x"] if extent.stop_early else []
    options += ["-p", WITHOUT_COVERAGE] if extent.without_coverage else []
    return {"PYTEST_ADDOPTS": shlex.join([*options, f"--rootdir={copy}"])}


def is_outer(variable: str) -> bool:
    """Whether a variable was set by an outer pytest for its own child processes."""
    return python.is_outer(variable) or (variable.startswith("PYTEST_") and variable not in _MEANT_FOR_ALL)
