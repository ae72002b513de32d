"""Jest: finds the tests itself; the package ``jest-junit`` writes its JUnit XML."""

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
    with_options,
    without_options,
)

NAME = "jest"
IS_PYTHON = False
MEASURE = "imports"
TOOL_FILES: tuple[str, ...] = javascript.TOOL_FILES
TEST_SUPPORT: tuple[str, ...] = ()
PROTECTED: tuple[str, ...] = (*javascript.PROTECTED, "jest.config.mjs", "jest.config.cjs", "jest.config.json")
REPORT = ReportWords(
    file_classes=("Test suite failed to run",),
    skip_properties=(("testlore.status", "todo"),),  # as our list of properties writes it
)

#: The folder and the name of a module that tells jest-junit the properties of a case.
_PROPERTIES = (os.path.join(os.path.dirname(os.path.abspath(__file__)), "runners"), "jest_properties.cjs")

program = javascript.program
file_arguments = javascript.finds_tests_itself
is_test_file = javascript.is_test_file
ran_to_end = javascript.ran_to_end
environment = javascript.environment
file_argument = plain_argument


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
        "JEST_JUNIT_TEST_CASE_PROPERTIES_DIR": _PROPERTIES[0],
        "JEST_JUNIT_TEST_CASE_PROPERTIES_JSON_FILE": _PROPERTIES[1],
    }
    # The last option is none that would take the files behind it for its values.
    return Command(with_options(runner, "jest", ["--reporters=jest-junit", "--ci"]), environment)


def limited(runner: list[str], extent: Extent) -> list[str]:
    """The runner with Jest's options. Without ``--runTestsByPath`` a path is a regular expression."""
    options = ["--runTestsByPath"] if extent.only else []
    if extent.stop_early:
        runner, options = without_options(runner, "--bail", "-b"), [*options, "--bail=1"]
    if extent.without_coverage:
        runner = without_options(runner, "--coverage", "--collectCoverage")
        options = [*options, "--coverage=false"]
    return with_options(runner, "jest", options)


def is_outer(variable: str) -> bool:
    """Whether a variable was set by an outer Jest for its workers or its reporter."""
    return variable.startswith("JEST_")
