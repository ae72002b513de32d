"""Any other runner: a command of the user's that writes JUnit XML where ``{junit}`` says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from testlore.errors import Refusal
from testlore.frameworks import (
    FILES,
    JUNIT,
    WHOLE,
    Command,
    Extent,
    ProjectFiles,
    ReportWords,
    javascript,
    plain_argument,
    python,
)

NAME = "custom"
IS_PYTHON = False
MEASURE = "imports"
TOOL_FILES: tuple[str, ...] = (*javascript.TOOL_FILES, *python.TOOL_FILES)
TEST_SUPPORT: tuple[str, ...] = python.TEST_SUPPORT
PROTECTED: tuple[str, ...] = ()
REPORT = ReportWords()

file_argument = plain_argument


def runs(runner: Sequence[str]) -> bool:
    """Never: this is the framework of runners that name no other one."""
    return False


def fits(files: ProjectFiles) -> bool:
    """Always: any project may use it."""
    return True


def program() -> str:
    """Node. Nothing runs without a runner here, but the provenance of older episodes was made with Node."""
    return "node"


def default_runner() -> list[str]:
    """None: only the user knows the command."""
    return []


def with_report(runner: list[str], report: str) -> Command:
    """Refuse the runner, since it does not say where its report goes.

    Raises:
        Refusal: ``runner-missing``.
    """
    raise Refusal(
        "runner-missing",
        f"runner is {runner or 'missing'}; allowed for this project: a command with {FILES} and {JUNIT}, "
        "which writes JUnit XML to that file",
    )


def limited(runner: list[str], extent: Extent) -> list[str]:
    """The runner as it is: we know none of its options."""
    return runner


def file_arguments(runner: Sequence[str], files: Sequence[str]) -> list[str]:
    """Every test file of any framework; none for a runner with ``discover``, which finds them itself."""
    from testlore.frameworks import union

    return [] if "discover" in runner else [path for path in files if union.is_test_file(path)]


def is_test_file(path: str) -> bool:
    """Whether it is a code file with the word *test* or *spec* in its path: a guess for many languages."""
    from testlore.frameworks import languages

    words = r"(?<![a-z])tests?(?![a-z])|(?<![a-z])specs?(?![a-z])|(Test|Spec)s?(?![a-z])"
    return languages.is_code(path) and re.search(words, path) is not None


def ran_to_end(status: int, *, stopped_early: bool = False) -> bool:
    """Whether the suite was not ended by a signal."""
    return status >= 0


def environment(copy: str, folder: str, extent: Extent = WHOLE) -> dict[str, str]:
    """The variables that runs need: none are known."""
    return {}


def is_outer(variable: str) -> bool:
    """Whether a variable was set by an outer run: none is known."""
    return False
