"""Test frameworks: which one a project uses, and what is particular to each.

A framework is a module that has everything in :class:`Framework`. To add one, write such a module and add its name to
:data:`NAMES` and to the enums of ``schemas/``. :mod:`testlore.frameworks.union` has what holds for every project,
whatever its framework.

A recall imports this module and that of its framework, so both stay small. What only a test run needs is imported in
the functions that need it.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from typing import NamedTuple, Protocol, cast

from testlore.project import safe_files
from testlore.project.settings import Settings

#: The modules, in the order in which a project's files are compared with them. The last one fits every project.
NAMES = ("vitest", "jest", "playwright", "pytest", "node", "unittest", "custom")

#: The framework of a project that fits no other one.
UNKNOWN = "custom"

#: The placeholders in a runner: for the test files, and for the path of the report.
FILES, JUNIT = "{files}", "{junit}"

_MAX_BYTES = 1 << 20


class Command(NamedTuple):
    """How to run a suite.

    Attributes:
        argv: the program and its arguments.
        environment: further environment variables.
    """

    argv: list[str]
    environment: dict[str, str]


class ReportWords(NamedTuple):
    """Words by which we recognize the elements of a JUnit report that are no test cases.

    Attributes:
        file_messages: messages of errors or skips. An element with such a message and without a class is a test file.
        file_names: classes or names of elements that are test files.
        runner_names: (class, name) of elements that are the framework itself.
        teardown_messages: how the messages of errors in a teardown begin. Such an error may be a case's second element.
        nameless_classes: classes that every case has, so that they say nothing.
        nameless_suites: suites that hold every case, so that they say nothing.
    """

    file_messages: tuple[str, ...] = ()
    file_names: tuple[str, ...] = ()
    runner_names: tuple[tuple[str, str], ...] = ()
    teardown_messages: tuple[str, ...] = ()
    nameless_classes: tuple[str, ...] = ()
    nameless_suites: tuple[str, ...] = ()


class ProjectFiles:
    """The files of a project, by which its framework is recognized.

    Args:
        root: the project's folder.
    """

    def __init__(self, root: str) -> None:
        self._root = root

    def has(self, *paths: str) -> bool:
        """Whether one of the files exists."""
        return any(os.path.isfile(os.path.join(self._root, path)) for path in paths)

    def mention(self, word: str, *paths: str) -> bool:
        """Whether one of the files has a word in its first MiB."""
        return any(self._mentions(word.encode(), path) for path in paths)

    def _mentions(self, word: bytes, path: str) -> bool:
        try:
            return word in safe_files.read_file(self._root, path, _MAX_BYTES)
        except OSError:
            return False


class Framework(Protocol):
    """What a test framework is.

    Attributes:
        NAME: its name in the configuration and in episodes, and the name of its module.
        IS_PYTHON: whether its tests run in Python. A run must then prove that it imported the copy of the project. If a
            runner names two frameworks, the Python one runs the tests.
        TOOL_FILES: paths of files that decide how its tests run.
        TEST_SUPPORT: names of tool files that are written together with tests. A patch may always change them.
        PROTECTED: names of further files that a patch may change only if it says so.
        REPORT: words of its reports.
    """

    NAME: str
    IS_PYTHON: bool
    TOOL_FILES: tuple[str, ...]
    TEST_SUPPORT: tuple[str, ...]
    PROTECTED: tuple[str, ...]
    REPORT: ReportWords

    def runs(self, runner: Sequence[str]) -> bool:
        """Whether a runner starts this framework. It is only asked if :func:`programs` has the framework's name."""

    def fits(self, files: ProjectFiles) -> bool:
        """Whether a project's files look like this framework's. It is only asked if no earlier framework fits."""

    def program(self) -> str:
        """The program that runs the tests if no runner is configured."""

    def default_runner(self) -> list[str]:
        """The runner if none is configured; empty when this framework has no usual one."""

    def with_report(self, runner: list[str], report: str) -> Command:
        """The runner with the options and variables that make it write JUnit XML to the file ``report``.

        Raises:
            Refusal: ``runner-missing``: this runner cannot be made to.
        """

    def file_arguments(self, runner: Sequence[str], files: Sequence[str]) -> list[str]:
        """The test files that the runner needs as arguments for the whole suite; none if it finds them itself.

        Args:
            files: all files of the project.
        """

    def is_test_file(self, path: str) -> bool:
        """Whether a path is a test file's."""

    def ran_to_end(self, status: int) -> bool:
        """Whether a suite with this exit status ran to its end. A negative status is the signal that ended it."""

    def environment(self, copy: str) -> dict[str, str]:
        """The environment variables that its runs need. Every run gets them, since a custom runner may start it.

        Args:
            copy: the folder in which the suite runs.
        """

    def is_outer(self, variable: str) -> bool:
        """Whether an environment variable was set by an outer run of this framework. Our runs must not get it."""


def framework(name: str) -> Framework:
    """The framework of this name. Only its module is imported.

    Raises:
        ValueError: there is no framework of this name.
    """
    if name not in NAMES:
        raise ValueError(f"framework is {name!r}; allowed: {', '.join(NAMES)}")
    return cast(Framework, importlib.import_module(f"{__name__}.{name}"))


def of_project(root: str, settings: Settings) -> Framework:
    """The framework of a project: the configured adapter, else that of the runner, else the one that its files fit."""
    if settings.adapter:
        return framework(settings.adapter)
    if settings.runner:
        return _of_runner(settings.runner)
    files = ProjectFiles(root)
    return next(one for one in map(framework, NAMES) if one.fits(files))


def _of_runner(runner: Sequence[str]) -> Framework:
    named = programs(runner)
    found = [one for one in map(framework, [name for name in NAMES if name in named]) if one.runs(runner)]
    found.sort(key=lambda one: not one.IS_PYTHON)  # `python -m pytest tests/jest` runs pytest
    return found[0] if found else framework(UNKNOWN)


def programs(runner: Sequence[str]) -> list[str]:
    """The parts of a runner as names of programs, without folders and the endings of executables."""
    return [os.path.basename(part).removesuffix(".exe").removesuffix(".js").removesuffix(".mjs") for part in runner]


def with_options(runner: Sequence[str], program: str, options: list[str]) -> list[str]:
    """``runner`` with options right after a program, or at its end if it does not name that program."""
    named = programs(runner)
    at = named.index(program) + 1 if program in named else len(named)
    return [*runner[:at], *options, *runner[at:]]
