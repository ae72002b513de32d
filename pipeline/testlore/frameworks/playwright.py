"""Playwright's test runner: finds the tests itself, and writes JUnit XML itself."""

from __future__ import annotations

import re
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
    split_off,
    with_options,
    without_options,
)

NAME = "playwright"
IS_PYTHON = False
MEASURE = "imports"
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
    """The runner with its JUnit reporter beside its own; it reads the report's path from the environment."""
    values, rest = split_off(runner, "--reporter")
    reporters = ",".join([*values["--reporter"], "junit"])
    argv = with_options(rest, "test", [f"--reporter={reporters}"])
    return Command(argv, {"PLAYWRIGHT_JUNIT_OUTPUT_NAME": report, "PLAYWRIGHT_JUNIT_OUTPUT_FILE": report})


def limited(runner: list[str], extent: Extent) -> list[str]:
    """The runner with Playwright's options. It has no coverage of its own."""
    if not extent.stop_early:
        return runner
    return with_options(without_options(runner, "-x", "--max-failures"), "test", ["--max-failures=1"])


def file_argument(path: str, copy: str) -> str:
    """A regular expression that fits the path."""
    return re.sub(r"[$()*+?\[\]\\^{|}]", r"\\\g<0>", plain_argument(path, copy))


def is_outer(variable: str) -> bool:
    """Never: variables such as the one with the browsers' folder are meant for every run."""
    return False
