"""The arithmetic project that a proof runs on, and its two candidates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from testlore.project.settings import CONFIG_FILE

QUERY = "zero boundary"

SOURCE = "calc.py"
_CALC = '''\
"""Arithmetic."""


def clamp(number, low, high):
    return max(low, min(high, number))


def divide(a, b):
    if b == 0:
        raise ZeroDivisionError("nothing can be divided by zero")
    return a / b
'''
_WITHOUT_LOW = _CALC.replace("max(low, ", "max(low - 1, ")
_WITHOUT_HIGH = _CALC.replace("min(high, number)", "number")

_TESTS = """\
from calc import clamp, divide


def test_a_number_between_stays():
    assert clamp(5, 0, 10) == 5


def test_division_keeps_the_fraction():
    assert divide(7, 2) == 3.5
"""
_ACCEPTED = """\
import pytest
from calc import clamp, divide


@pytest.mark.parametrize("number", [-1, 0])
def test_zero_boundary_of_clamp(number):
    assert clamp(number, 0, 10) == 0


def test_zero_boundary_of_division():
    assert divide(0, 3) == 0
    with pytest.raises(ZeroDivisionError):
        divide(3, 0)
"""
_REJECTED = """\
from calc import clamp, divide


def test_boundary_of_clamp():
    assert clamp(11, 0, 10) == 10


def test_division_keeps_the_fraction():
    assert divide(7, 2) == 3.5
"""


def write(root: Path) -> None:
    """Write the project, without its configuration, into an empty folder."""
    (root / "tests").mkdir()
    (root / SOURCE).write_text(_CALC, "utf-8")
    (root / "tests/test_calc.py").write_text(_TESTS, "utf-8")


def configure(root: Path, runtime: str, **changes: Any) -> None:
    """Write the configuration: native recall by this engine, and other keys.

    Args:
        changes: further keys of the configuration, or other values for them.
    """
    plugin = {"enabled": True, "runtime": runtime, "timeoutMs": 30_000}
    config = {"adapter": "pytest", "plugins": {"ruvector": plugin}, **changes}
    (root / CONFIG_FILE).write_text(json.dumps(config), "utf-8")


def patches() -> tuple[dict[str, Any], dict[str, Any]]:
    """A patch that must be accepted, and one that must be rejected because it loses a case."""
    return (
        _patch("tests/test_zero.py", _ACCEPTED, "the lower bound is lost", _WITHOUT_LOW),
        _patch("tests/test_calc.py", _REJECTED, "the upper bound is lost", _WITHOUT_HIGH),
    )


def _patch(path: str, content: str, defect: str, broken: str) -> dict[str, Any]:
    return {
        "files": [{"path": path, "content": content}],
        "requirements": "A clamped number stays within its bounds. Division keeps the fraction, and refuses zero.",
        "review": {"accepted": True, "findings": [], "oracle": {"independent": True, "basis": ["the requirements"]}},
        "heldOutDefects": [{"name": defect, "path": SOURCE, "content": broken}],
    }
