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

#: Those that a store of TestLore's may name.
OF_TESTLORE = frozenset({"node", "jest", "vitest", "playwright", "custom"})

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


class Extent(NamedTuple):
    """How much of a suite a run needs. The default is the whole of it.

    Attributes:
        only: the paths of the test files to run; none for all of them.
        stop_early: whether to stop at the first failure.
        without_coverage: whether to switch off the project's own measurement of coverage, whose limits only a whole run
            can keep.
    """

    only: tuple[str, ...] = ()
    stop_early: bool = False
    without_coverage: bool = False


#: The whole suite.
WHOLE = Extent()


class ReportWords(NamedTuple):
    """Words by which we recognize the elements of a JUnit report that are no test cases, or not what they seem.

    Attributes:
        file_messages: messages of errors or skips. An element with such a message and without a class is a test file.
        file_classes: classes of elements that are test files.
        file_failures: messages of failures. An element with such a message and the title of a test file is that file.
        runner_names: (class, name) of elements that are the framework itself.
        teardown_messages: how the messages of errors in a teardown begin. Such an error may be a case's second element.
        nameless_classes: classes that every case has, so that they say nothing. The suites around are no files then.
        nameless_suites: suites that hold every case, so that they say nothing.
        skip_types: types of skips of cases that may fail without making the suite fail.
        skip_properties: (name, value) of properties of cases that did not run.
    """

    file_messages: tuple[str, ...] = ()
    file_classes: tuple[str, ...] = ()
    file_failures: tuple[str, ...] = ()
    runner_names: tuple[tuple[str, str], ...] = ()
    teardown_messages: tuple[str, ...] = ()
    nameless_classes: tuple[str, ...] = ()
    nameless_suites: tuple[str, ...] = ()
    skip_types: tuple[str, ...] = ()
    skip_properties: tuple[tuple[str, str], ...] = ()


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
        MEASURE: how it is told which functions its tests run: a name of ``testlore.evidence.measures``.
        TOOL_FILES: paths of files that decide how its tests run.
        TEST_SUPPORT: names of tool files that are written together with tests. A patch may always change them.
        PROTECTED: names of further files that a patch may change only if it says so.
        REPORT: words of its reports.
    """

    NAME: str
    IS_PYTHON: bool
    MEASURE: str
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

    def limited(self, runner: list[str], extent: Extent) -> list[str]:
        """The runner with the options for a run of this extent; as it is for what its environment says, or nothing can.

        The files of ``extent.only`` take the place of :data:`FILES` afterwards, if that is still there.
        """

    def file_arguments(self, runner: Sequence[str], files: Sequence[str]) -> list[str]:
        """The test files that the runner needs as arguments for the whole suite; none if it finds them itself.

        Args:
            files: all files of the project.
        """

    def file_argument(self, path: str, copy: str) -> str:
        """A test file as the runner takes it.

        Args:
            path: its path in the project.
            copy: the folder in which the suite runs.
        """

    def is_test_file(self, path: str) -> bool:
        """Whether a path is a test file's."""

    def ran_to_end(self, status: int, *, stopped_early: bool = False) -> bool:
        """Whether a suite with this exit status ran to its end. A negative status is the signal that ended it.

        Args:
            stopped_early: whether it was told to stop at the first failure, and had one. That is its end then.
        """

    def environment(self, copy: str, folder: str, extent: Extent = WHOLE) -> dict[str, str]:
        """The environment variables that its runs need. Every run gets them, since a custom runner may start it.

        Args:
            copy: the folder in which the suite runs.
            folder: a folder of the run's own, outside of the copy.
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


def with_last_options(runner: Sequence[str], program: str, options: list[str]) -> list[str]:
    """``runner`` with options after all others of a program, which takes the last of those that are there twice.

    They stand before a ``--`` that ends the program's options.
    """
    named = programs(runner)
    begin = named.index(program) if program in named else len(named)
    at = next((at for at in range(begin, len(named)) if runner[at] == "--"), len(named))
    return [*runner[:at], *options, *runner[at:]]


def without_options(runner: Sequence[str], *names: str) -> list[str]:
    """``runner`` without options of these names, which may have a number, or a value after ``=``."""
    kept: list[str] = []
    is_out = False
    for part in runner:
        is_out = part.partition("=")[0] in names or (is_out and part.isdecimal())
        kept += [] if is_out else [part]
    return kept


def split_off(runner: Sequence[str], *names: str) -> tuple[dict[str, list[str]], list[str]]:
    """The values of options that need one, by their names, and ``runner`` without those options."""
    values: dict[str, list[str]] = {name: [] for name in names}
    rest: list[str] = []
    parts = iter(runner)
    for part in parts:
        name, is_set, value = part.partition("=")
        if name in values:
            values[name].append(value if is_set else next(parts, ""))
        else:
            rest.append(part)
    return values, rest


def plain_argument(path: str, _copy: str) -> str:
    """A path that no program reads as an option."""
    return f"./{path}" if path.startswith("-") else path
