"""Any other runner: a command of the user's that writes JUnit XML where ``{junit}`` says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from testlore.errors import Refusal
from testlore.frameworks import FILES, JUNIT, Command, ProjectFiles, ReportWords, javascript, python

NAME = "custom"
IS_PYTHON = False
TOOL_FILES: tuple[str, ...] = (*javascript.TOOL_FILES, *python.TOOL_FILES)
TEST_SUPPORT: tuple[str, ...] = python.TEST_SUPPORT
PROTECTED: tuple[str, ...] = ()
REPORT = ReportWords()


def runs(runner: Sequence[str]) -> bool:
    """Whether a runner names it: never, it is what remains when no other framework is named."""
    return False


def fits(files: ProjectFiles) -> bool:
    """Whether a project may use it: any project."""
    return True


def program() -> str:
    """Node, though nothing runs without a runner: the provenance of older episodes was made with it."""
    return "node"


def default_runner() -> list[str]:
    """None: only the user knows the command."""
    return []


def with_report(runner: list[str], report: str) -> Command:
    """A runner that does not say where its report goes is refused.

    Raises:
        Refusal: ``runner-missing``.
    """
    raise Refusal(
        "runner-missing",
        f"runner is {runner or 'missing'}; allowed for this project: a command with {FILES} and {JUNIT}, "
        "which writes JUnit XML to that file",
    )


def file_arguments(runner: Sequence[str], files: Sequence[str]) -> list[str]:
    """Every file that is a test in the eyes of some framework; none where ``discover`` says that it looks itself."""
    from testlore.frameworks import union

    return [] if "discover" in runner else [path for path in files if union.is_test_file(path)]


def is_test_file(path: str) -> bool:
    """Whether the path of a code file has the word *test* or *spec* in it: a guess that holds in many languages."""
    from testlore.frameworks import languages

    words = r"(?<![a-z])tests?(?![a-z])|(?<![a-z])specs?(?![a-z])|(Test|Spec)s?(?![a-z])"
    return languages.is_code(path) and re.search(words, path) is not None


def ran_to_end(status: int) -> bool:
    """Whether no signal ended a suite."""
    return status >= 0


def environment(copy: str) -> dict[str, str]:
    """The variables that runs need: none are known."""
    return {}


def is_outer(variable: str) -> bool:
    """Whether a variable belongs to an outer run: none is known."""
    return False
