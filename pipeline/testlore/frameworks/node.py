"""Node's own test runner: ``node --test``."""

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
    programs,
    split_off,
    with_options,
    without_options,
)

NAME = "node"
IS_PYTHON = False
MEASURE = "v8"
TOOL_FILES: tuple[str, ...] = javascript.TOOL_FILES
TEST_SUPPORT: tuple[str, ...] = ()
PROTECTED: tuple[str, ...] = javascript.PROTECTED
REPORT = ReportWords(
    file_failures=("test failed",),
    nameless_classes=("test",),  # suites are nested elements instead
    skip_types=("todo",),
)

_REPORTER, _DESTINATION = "--test-reporter", "--test-reporter-destination"

program = javascript.program
is_test_file = javascript.is_test_file
ran_to_end = javascript.ran_to_end
environment = javascript.environment


def runs(runner: Sequence[str]) -> bool:
    """Whether a runner is ``node`` with an option of its test runner."""
    is_asked = any(part == "--test" or part.startswith("--test-") for part in runner)
    return programs(runner)[0] == "node" and is_asked


def fits(files: ProjectFiles) -> bool:
    """Whether it is a JavaScript project: ``node --test`` needs no file of its own."""
    return files.has("package.json")


def default_runner() -> list[str]:
    """``node --test``."""
    return ["node", "--test", FILES]


def with_report(runner: list[str], report: str) -> Command:
    """The runner with Node's own JUnit reporter, after those of its own. Each reporter needs a destination then."""
    values, rest = split_off(runner, _REPORTER, _DESTINATION)
    reporters, places = values[_REPORTER], values[_DESTINATION]
    places += ["stdout"] * (len(reporters) - len(places))
    pairs = zip([*reporters, "junit"], [*places, report], strict=False)
    told = [text for one, place in pairs for text in (f"{_REPORTER}={one}", f"{_DESTINATION}={place}")]
    return Command(with_options(rest, "--test" if "--test" in rest else "node", told), {})


def limited(runner: list[str], extent: Extent) -> list[str]:
    """The runner without its options for coverage. Node cannot stop early."""
    if not extent.without_coverage:
        return runner
    limits = [f"--test-coverage-{what}" for what in ("lines", "branches", "functions")]
    return without_options(runner, "--experimental-test-coverage", *limits)


def file_arguments(runner: Sequence[str], files: Sequence[str]) -> list[str]:
    """Every test file, since Node itself looks for fewer names."""
    return [path for path in files if is_test_file(path)]


def file_argument(path: str, copy: str) -> str:
    """The absolute path. Node titles the element of a file by what it was given; so no case has such a title."""
    return os.path.join(copy, path)


def is_outer(variable: str) -> bool:
    """Whether a variable makes a child process report to an outer ``node --test``, or write its coverage for it."""
    return variable.startswith("NODE_TEST_") or variable == "NODE_V8_COVERAGE"
