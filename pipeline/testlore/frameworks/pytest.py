"""pytest: finds the tests itself, and writes JUnit XML itself."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from testlore.frameworks import FILES, Command, ProjectFiles, ReportWords, programs, python, with_options

NAME = "pytest"
IS_PYTHON = True
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

_MEANT_FOR_ALL = ("PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")  # a user sets these for every run

program = python.program
is_test_file = python.is_test_file


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
    """The runner with ``--junitxml``."""
    return Command(with_options(runner, "pytest", [f"--junitxml={report}"]), {})


def file_arguments(runner: Sequence[str], files: Sequence[str]) -> list[str]:
    """None: pytest finds the test files itself."""
    return []


def ran_to_end(status: int) -> bool:
    """Whether pytest ran every test. Above 1 it was interrupted, was called wrongly, or broke."""
    return status in (0, 1)


def environment(copy: str) -> dict[str, str]:
    """Options for every pytest of a run: it writes no cache, and its report names the file of each case."""
    import shlex

    # Only pytest's older kind of report names files.
    return {"PYTEST_ADDOPTS": f"-p no:cacheprovider -o junit_family=xunit1 --rootdir={shlex.quote(copy)}"}


def is_outer(variable: str) -> bool:
    """Whether a variable was set by an outer pytest for its own child processes."""
    return python.is_outer(variable) or (variable.startswith("PYTEST_") and variable not in _MEANT_FOR_ALL)
