"""Node's own test runner: ``node --test``."""

from __future__ import annotations

from collections.abc import Sequence

from testlore.frameworks import FILES, Command, ProjectFiles, ReportWords, javascript, programs, with_options

NAME = "node"
IS_PYTHON = False
TOOL_FILES: tuple[str, ...] = javascript.TOOL_FILES
TEST_SUPPORT: tuple[str, ...] = ()
PROTECTED: tuple[str, ...] = javascript.PROTECTED
REPORT = ReportWords(nameless_classes=("test",))  # suites are nested elements instead

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
    """The runner with Node's own JUnit reporter."""
    options = ["--test-reporter=junit", f"--test-reporter-destination={report}"]
    return Command(with_options(runner, "--test", options), {})


def file_arguments(runner: Sequence[str], files: Sequence[str]) -> list[str]:
    """Every test file, since Node itself looks for fewer names."""
    return [path for path in files if is_test_file(path)]


def is_outer(variable: str) -> bool:
    """Whether a variable makes a child process report to an outer ``node --test``."""
    return variable.startswith("NODE_TEST_")
