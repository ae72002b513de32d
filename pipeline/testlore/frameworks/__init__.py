"""What is particular to a test framework: its test files, and the command that runs a suite and writes JUnit XML."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from typing import NamedTuple

from testlore.errors import Refusal
from testlore.project import safe_files
from testlore.project.settings import Settings

JUNIT = "{junit}"
FILES = "{files}"

_PYTHON_TEST = re.compile(r"(test_.*|.*_test|tests?)\.py")
_UNITTEST_FILE = re.compile(r"(^|/)test[^/]*\.py$")
_SCRIPT = re.compile(r".+\.[cm]?[jt]sx?")
_SCRIPT_TEST = re.compile(r"(.+[._-](test|spec)|test|test-.+)\.[cm]?[jt]sx?")
_SCRIPT_FOLDERS = frozenset(["test", "tests", "__tests__"])
_SUPPORT_FOLDERS = frozenset(["fixtures", "__fixtures__", "__mocks__", "__snapshots__", "helpers", "support", "data"])

_INSIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runners")
_UNITTEST_RUNNER = os.path.join(_INSIDE, "unittest_junit.py")

_LANGUAGES = {
    "python": (".py", ".pyi"),
    "javascript": (".js", ".mjs", ".cjs", ".jsx"),
    "typescript": (".ts", ".mts", ".cts", ".tsx"),
}


class Command(NamedTuple):
    """How to run a suite.

    Attributes:
        argv: the program and its arguments.
        environment: what is set for it besides.
    """

    argv: list[str]
    environment: dict[str, str]


def is_test_file(path: str) -> bool:
    """Whether a file is a test by the naming rules of the frameworks that we know."""
    *folders, name = path.split("/")
    if _PYTHON_TEST.fullmatch(name) or _SCRIPT_TEST.fullmatch(name):
        return True
    in_tests = not _SCRIPT_FOLDERS.isdisjoint(folders) and _SUPPORT_FOLDERS.isdisjoint(folders)
    return bool(in_tests and _SCRIPT.fullmatch(name) and ".d." not in name and ".config." not in name)


def language(path: str) -> str:
    """The language of a file, as a record names it."""
    ending = os.path.splitext(path)[1].lower()
    return next((name for name, endings in _LANGUAGES.items() if ending in endings), "other")


def common_language(paths: Sequence[str]) -> str:
    """The language of several files: of those that are code, if any is."""
    found = {language(path) for path in paths}
    found = found - {"other"} or found
    return found.pop() if len(found) == 1 else "mixed" if found else "other"


def command(root: str, configured: Settings, copy: str, report: str, files: Sequence[str], only: str = "") -> Command:
    """The command that runs a suite in a copy of the project.

    Args:
        root: the original project, where programs are found that are no part of its sources.
        copy: the folder that the suite runs in.
        report: where the JUnit XML goes, outside of the copy.
        files: the copy's files; runners that do not find the tests among them by themselves are told those.
        only: the one test file that is run; empty for the whole suite.

    Raises:
        Refusal: ``runner-missing``: nothing says how a suite of this framework is run with a report.
    """
    framework = safe_files.framework(root, configured)
    runner = list(configured.runner) or _default_runner(framework)
    has_placeholder = any(JUNIT in part for part in runner)
    if framework == "custom" and not has_placeholder:
        raise Refusal(
            "runner-missing",
            f"runner is {runner or 'missing'}; allowed for this project: a command with {FILES} and {JUNIT}, "
            "which writes JUnit XML to that file",
        )
    environment: dict[str, str] = {}
    if not has_placeholder:
        runner, environment = _with_report(framework, runner, report)
    told = [only] if only else _told(framework, runner, files)
    told = [f"./{path}" if path.startswith("-") else path for path in told]  # which would read as an option
    argv: list[str] = []
    for part in runner:
        if part == FILES:
            argv += told
        elif FILES in part:
            argv.append(part.replace(FILES, " ".join(told)))
        else:
            argv.append(part.replace(JUNIT, report))
    argv[0] = _program(root, copy, argv[0])
    return Command(argv, environment)


def _default_runner(framework: str) -> list[str]:
    return {
        "pytest": [sys.executable, "-m", "pytest", FILES],
        "unittest": [sys.executable, "-m", "unittest", FILES],
        "node": ["node", "--test", FILES],
        "vitest": ["node_modules/.bin/vitest", "run", FILES],
        "jest": ["node_modules/.bin/jest", FILES],
        "playwright": ["node_modules/.bin/playwright", "test", FILES],
    }.get(framework, [])


def _told(framework: str, runner: list[str], files: Sequence[str]) -> list[str]:
    """The test files that a runner is told when the whole suite is meant: none where it finds them by itself."""
    if framework in ("pytest", "vitest", "jest", "playwright") or "discover" in runner:
        return []
    if framework == "unittest":
        return [path for path in files if _UNITTEST_FILE.search(path) or (path.endswith(".py") and is_test_file(path))]
    if framework == "node":
        return [path for path in files if not path.endswith(".py") and is_test_file(path)]
    return [path for path in files if is_test_file(path)]


def _with_report(framework: str, runner: list[str], report: str) -> tuple[list[str], dict[str, str]]:
    """The runner with what makes it write JUnit XML, and the environment that this needs."""
    if framework == "pytest":
        return _after(runner, "pytest", [f"--junitxml={report}"]), {}
    if framework == "unittest":
        at = next((at for at in range(len(runner) - 1) if runner[at : at + 2] == ["-m", "unittest"]), None)
        if at is None:
            raise Refusal("runner-missing", f"runner is {runner}; allowed for unittest: -m unittest in it, or {JUNIT}")
        return [*runner[:at], _UNITTEST_RUNNER, report, *runner[at + 2 :]], {}
    if framework == "node":
        options = ["--test-reporter=junit", f"--test-reporter-destination={report}"]
        return _after(runner, "--test", options), {}
    if framework == "vitest":
        words = [] if "run" in runner else ["run"]
        return [*_after(runner, "vitest", words), "--reporter=junit", f"--outputFile={report}"], {}
    if framework == "jest":
        environment = {
            "JEST_JUNIT_OUTPUT_FILE": report,
            "JEST_JUNIT_ADD_FILE_ATTRIBUTE": "true",
            "JEST_JUNIT_SUITE_NAME": "{filepath}",
            "JEST_JUNIT_CLASSNAME": "{filepath}",
            "JEST_JUNIT_TITLE": "{classname} {title}",
            "JEST_JUNIT_REPORT_TEST_SUITE_ERRORS": "true",
        }
        return _after(runner, "jest", ["--ci", "--reporters=jest-junit"]), environment
    return _after(runner, "test", ["--reporter=junit"]), {"PLAYWRIGHT_JUNIT_OUTPUT_NAME": report}


def _after(runner: list[str], word: str, options: list[str]) -> list[str]:
    """``runner`` with options right after the part that is called ``word``, or else at its end."""
    for at, part in enumerate(runner):
        name = os.path.basename(part).removesuffix(".exe").removesuffix(".js").removesuffix(".mjs")
        if name == word:
            return [*runner[: at + 1], *options, *runner[at + 1 :]]
    return [*runner, *options]


def _program(root: str, copy: str, program: str) -> str:
    """A program of the project by its place in the copy, or, when it is no part of the sources, in the original."""
    if "/" not in program or os.path.isabs(program):
        return program
    inside = os.path.join(copy, program)
    return inside if os.path.exists(inside) else os.path.join(root, program)


class _Shim(NamedTuple):
    NAME: str
    TOOL_FILES: tuple[str, ...]

    def program(self) -> str:
        return sys.executable if self.NAME in safe_files.PYTHON_FRAMEWORKS else "node"


Framework = _Shim


def of_project(root: str, settings: Settings) -> _Shim:
    from testlore.project import provenance

    return _Shim(safe_files.framework(root, settings), provenance.TOOL_FILES)
