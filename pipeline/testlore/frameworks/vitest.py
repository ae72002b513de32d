"""Vitest: finds the tests itself, and writes JUnit XML itself."""

from __future__ import annotations

from collections.abc import Sequence

from testlore.frameworks import FILES, Command, ProjectFiles, ReportWords, javascript, programs, with_options

NAME = "vitest"
IS_PYTHON = False
TOOL_FILES: tuple[str, ...] = javascript.TOOL_FILES
TEST_SUPPORT: tuple[str, ...] = ()
PROTECTED: tuple[str, ...] = (
    *javascript.PROTECTED,
    *("vitest.config.mjs", "vitest.config.cjs", "vitest.config.mts", "vitest.workspace.js", "vitest.workspace.ts"),
    *("vite.config.js", "vite.config.mjs"),
)
REPORT = ReportWords()

program = javascript.program
file_arguments = javascript.finds_tests_itself
is_test_file = javascript.is_test_file
ran_to_end = javascript.ran_to_end
environment = javascript.environment


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
    """The runner with its JUnit reporter, and with ``run``: without it, Vitest would wait for changes."""
    words = [] if "run" in runner else ["run"]
    return Command([*with_options(runner, "vitest", words), "--reporter=junit", f"--outputFile={report}"], {})


def is_outer(variable: str) -> bool:
    """Whether a variable was set by an outer Vitest for its workers."""
    return variable.startswith("VITEST")
