"""Playwright's test runner: finds the tests itself, and writes JUnit XML itself."""

from __future__ import annotations

from collections.abc import Sequence

from testlore.frameworks import FILES, Command, ProjectFiles, ReportWords, javascript, programs, with_options

NAME = "playwright"
IS_PYTHON = False
TOOL_FILES: tuple[str, ...] = javascript.TOOL_FILES
TEST_SUPPORT: tuple[str, ...] = ()
PROTECTED: tuple[str, ...] = (*javascript.PROTECTED, "playwright.config.js", "playwright.config.ts")
REPORT = ReportWords()

program = javascript.program
file_arguments = javascript.finds_tests_itself
is_test_file = javascript.is_test_file
ran_to_end = javascript.ran_to_end
environment = javascript.environment


def runs(runner: Sequence[str]) -> bool:
    """Whether a runner names Playwright."""
    return NAME in programs(runner)


def fits(files: ProjectFiles) -> bool:
    """Whether Playwright is configured or named in ``package.json``."""
    return javascript.is_configured(NAME, files)


def default_runner() -> list[str]:
    """The project's own ``playwright test``."""
    return ["node_modules/.bin/playwright", "test", FILES]


def with_report(runner: list[str], report: str) -> Command:
    """The runner with its JUnit reporter, which reads the report's path from the environment."""
    return Command(with_options(runner, "test", ["--reporter=junit"]), {"PLAYWRIGHT_JUNIT_OUTPUT_NAME": report})


def is_outer(variable: str) -> bool:
    """Never: variables such as the one with the browsers' folder are meant for every run."""
    return False
