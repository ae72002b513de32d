"""Vitest: finds the tests itself, and writes JUnit XML itself."""

from __future__ import annotations

import os
from collections.abc import Sequence

from testlore.frameworks import (
    FILES,
    Command,
    Extent,
    ProjectFiles,
    ReportWords,
    javascript,
    plain_argument,
    programs,
    with_last_options,
    with_options,
    without_options,
)

NAME = "vitest"
IS_PYTHON = False
MEASURE = "imports"
TOOL_FILES: tuple[str, ...] = javascript.TOOL_FILES
TEST_SUPPORT: tuple[str, ...] = ()
PROTECTED: tuple[str, ...] = (
    *javascript.PROTECTED,
    *("vitest.config.mjs", "vitest.config.cjs", "vitest.config.mts", "vitest.workspace.js", "vitest.workspace.ts"),
    *("vite.config.js", "vite.config.mjs"),
)
REPORT = ReportWords()

# A reporter of ours takes no option of the project's. Vitest's own writes to the file that the project's configuration
# names, and is there only once.
_REPORTER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runners", "vitest_junit.mjs")

program = javascript.program
file_arguments = javascript.finds_tests_itself
is_test_file = javascript.is_test_file
ran_to_end = javascript.ran_to_end
environment = javascript.environment
file_argument = plain_argument


def runs(runner: Sequence[str]) -> bool:
    """Whether a runner names Vitest."""
    return NAME in programs(runner)


def fits(files: ProjectFiles) -> bool:
    """Whether Vitest is configured or named in ``package.json``."""
    return javascript.is_configured(NAME, files)


def default_runner() -> list[str]:
    """The project's own ``vitest run``."""
    return ["node_modules/.bin/vitest", "run", FILES]


def with_report(runner: list[str], report: str) -> Command:
    """The runner with a JUnit reporter, and with ``run``: without it, Vitest would wait for changes."""
    words = [] if "run" in runner else ["run"]
    argv = with_last_options(with_options(runner, "vitest", words), "vitest", [f"--reporter={_REPORTER}"])
    return Command(argv, {"TESTLORE_REPORT": report})


def limited(runner: list[str], extent: Extent) -> list[str]:
    """The runner with Vitest's options. It takes none twice."""
    options = []
    if extent.stop_early:
        runner, options = without_options(runner, "--bail"), ["--bail=1"]
    if extent.without_coverage:
        runner = without_options(runner, "--coverage", "--coverage.enabled", "--no-coverage")
        options = [*options, "--coverage.enabled=false"]
    return with_last_options(runner, "vitest", options)


def is_outer(variable: str) -> bool:
    """Whether a variable was set by an outer Vitest for its workers."""
    return variable.startswith("VITEST")
