"""``python -m unittest`` with a JUnit report: ``python unittest_junit.py REPORT [ARGUMENTS OF UNITTEST]``.

It runs in the project's own interpreter, so it uses only the standard library. Python puts the folder of a script first
on the search path. This script needs a folder of its own, or ``testlore/frameworks/unittest.py`` would be imported.
"""

from __future__ import annotations

import os
import sys
import unittest
from typing import Any
from xml.sax.saxutils import quoteattr

_LOAD_FAILURE = "collection failure"  # as in pytest's reports


class _Result(unittest.TextTestResult):
    """Records how each test ended. A test that fails in several ways is one failed case."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cases: list[list[Any]] = []
        self._parts: set[str] = set()  # how the subtests of the test that runs now ended

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().startTest(test)
        self.cases.append([test, "", ""])
        self._parts.clear()

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().stopTest(test)
        if self._parts == {"skipped"}:  # a test of which only some parts are skipped has run
            self._mark(test, "skipped", "skipped")

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        super().addFailure(test, err)
        self._mark(test, "failure", "failure")

    def addError(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        super().addError(test, err)
        self._mark(test, "error", _LOAD_FAILURE if _is_load_failure(test) else "error")

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:  # noqa: N802
        super().addSubTest(test, subtest, err)
        self._parts.add("ran")
        if err is not None:
            self._mark(test, "failure", "subtest")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802
        super().addSkip(test, reason)
        if hasattr(test, "test_case"):  # a subtest, which has no name of its own
            self._parts.add("skipped")
        else:
            self._mark(test, "skipped", "skipped")

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        super().addExpectedFailure(test, err)
        self._mark(test, "skipped", "expected failure")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().addUnexpectedSuccess(test)
        self._mark(test, "failure", "unexpected success")

    def _mark(self, test: unittest.TestCase, mark: str, message: str) -> None:
        has_started = self.cases and self.cases[-1][0] is test
        if not has_started:  # the set-up of its class or module failed
            self.cases.append([test, "", ""])
        if self.cases[-1][1] in ("", "skipped"):
            self.cases[-1][1:] = [mark, message]


class _Runner(unittest.TextTestRunner):
    """unittest gives the options, such as ``--failfast``, to a class alone; with an object it ignores them."""

    resultclass = _Result


def _is_load_failure(test: Any) -> bool:
    return type(test).__module__ == "unittest.loader"


def _attributes(test: Any, message: str) -> str:
    if message == _LOAD_FAILURE:
        return 'classname="" name={}'.format(_quoted(test.id().rpartition(".")[2]))
    method = getattr(test, "_testMethodName", "")
    if not method:
        return f'classname="" name={_quoted(str(test))}'
    kind = type(test)
    text = f"classname={_quoted(f'{kind.__module__}.{kind.__qualname__}')} name={_quoted(method)}"
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return f"{text} file={_quoted(os.path.abspath(file))}" if file else text


def _quoted(text: str) -> str:
    return quoteattr("".join(char if char >= " " and not "\ud800" <= char <= "\udfff" else "?" for char in text))


def _write(path: str, cases: list[list[Any]]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write('<?xml version="1.0" encoding="utf-8"?>\n<testsuites><testsuite name="">\n')
        for test, mark, message in cases:
            inner = f"<{mark} message={_quoted(message)}/>" if mark else ""
            file.write(f"<testcase {_attributes(test, message)}>{inner}</testcase>\n")
        file.write("</testsuite></testsuites>\n")


def main() -> int:
    """Run unittest, write the report, and return the exit status: 0 when all tests passed, else 1."""
    report, arguments = sys.argv[1], sys.argv[2:]
    sys.path[0] = os.getcwd()  # as with `python -m unittest`
    program = unittest.main(module=None, argv=["python -m unittest", *arguments], testRunner=_Runner, exit=False)
    result = program.result
    assert isinstance(result, _Result)
    _write(report, result.cases)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
