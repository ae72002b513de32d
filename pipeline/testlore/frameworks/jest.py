"""Jest: finds the tests itself; the package ``jest-junit`` writes its JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence

from testlore.frameworks import FILES, Command, ProjectFiles, ReportWords, javascript, programs, with_options

NAME = "jest"
IS_PYTHON = False
TOOL_FILES: tuple[str, ...] = javascript.TOOL_FILES
TEST_SUPPORT: tuple[str, ...] = ()
PROTECTED: tuple[str, ...] = (*javascript.PROTECTED, "jest.config.mjs", "jest.config.cjs", "jest.config.json")
REPORT = ReportWords(file_names=("Test suite failed to run",))

program = javascript.program
file_arguments = javascript.finds_tests_itself
is_test_file = javascript.is_test_file
ran_to_end = javascript.ran_to_end
environment = javascript.environment


def runs(runner: Sequence[str]) -> bool:
    """Whether a runner names Jest."""
    return NAME in programs(runner)


def fits(files: ProjectFiles) -> bool:
    """Whether Jest is configured or named in ``package.json``."""
    return javascript.is_configured(NAME, files)


def default_runner() -> list[str]:
    """The project's own ``jest``."""
    return ["node_modules/.bin/jest", FILES]


def with_report(runner: list[str], report: str) -> Command:
    """The runner with the reporter ``jest-junit``, which reads its options from the environment."""
    environment = {
        "JEST_JUNIT_OUTPUT_FILE": report,
        "JEST_JUNIT_ADD_FILE_ATTRIBUTE": "true",
        "JEST_JUNIT_SUITE_NAME": "{filepath}",
        "JEST_JUNIT_CLASSNAME": "{filepath}",
        "JEST_JUNIT_TITLE": "{classname} {title}",
        "JEST_JUNIT_REPORT_TEST_SUITE_ERRORS": "true",
    }
    return Command(with_options(runner, "jest", ["--ci", "--reporters=jest-junit"]), environment)


def is_outer(variable: str) -> bool:
    """Whether a variable was set by an outer Jest for its workers or its reporter."""
    return variable.startswith("JEST_")
