"""What holds for every project, whatever its framework, since a custom runner may start any framework or several."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import chain

from testlore.frameworks import NAMES, UNKNOWN, WHOLE, Extent, Framework, ReportWords, framework


def every() -> tuple[Framework, ...]:
    """All frameworks. This imports every module."""
    return tuple(map(framework, NAMES))


def is_test_file(path: str) -> bool:
    """Whether a file is a test by the naming rules of some framework."""
    return any(rule(path) for rule in _naming_rules())


@cache
def _naming_rules() -> tuple[Callable[[str], bool], ...]:
    """Every framework's rule once, without the guess for unknown frameworks."""
    return tuple({one.is_test_file: None for one in every() if one.NAME != UNKNOWN})


@cache
def report_words() -> ReportWords:
    """The report words of all frameworks together."""
    return ReportWords(*(tuple(chain(*words)) for words in zip(*(one.REPORT for one in every()), strict=True)))


def environment(copy: str, folder: str, extent: Extent = WHOLE) -> dict[str, str]:
    """The environment variables that a run needs.

    Args:
        copy: the folder in which the suite runs.
        folder: a folder of the run's own, outside of the copy.
    """
    return {name: value for one in every() for name, value in one.environment(copy, folder, extent).items()}


def is_outer(variable: str) -> bool:
    """Whether an environment variable was set by an outer test run. Our runs must not get it."""
    return any(one.is_outer(variable) for one in every())


def decides_runs(name: str) -> bool:
    """Whether a file of this name is a tool file of some framework."""
    return any(name in one.TOOL_FILES for one in every())


def supports_tests(name: str) -> bool:
    """Whether a file of this name is written together with tests."""
    return any(name in one.TEST_SUPPORT for one in every())


def is_protected(name: str) -> bool:
    """Whether a patch may change a file of this name only if it says so."""
    if supports_tests(name):
        return False
    return any(name in one.TOOL_FILES or name in one.PROTECTED for one in every())
