"""What the tests of evidence share: small real projects, patches for them, and their memory."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from episodes import make_episode
from testlore import canonical, evidence, frameworks
from testlore.evidence import running
from testlore.evidence.running import Place, Run
from testlore.evidence.working_copy import WorkingCopy
from testlore.memory import store, writer
from testlore.project import settings
from testlore.project.snapshot import Scan

CALC = """\
def clamp(number):
    return max(0, min(10, number))


def divide(a, b):
    if b == 0:
        raise ZeroDivisionError("b")
    return a / b
"""
#: Lets numbers below zero through, which the original test of clamp sees, and divides by zero, which the new one sees.
BROKEN_CALC = CALC.replace("max(0, ", "max(-9, ").replace('raise ZeroDivisionError("b")', "return 0")
#: What only the original test sees, and what only the new one does.
BROKEN_CLAMP = CALC.replace("max(0, ", "max(-9, ")
BROKEN_DIVIDE = CALC.replace('raise ZeroDivisionError("b")', "return 0")

PYTEST_ORIGINAL = """\
from calc import clamp


def test_clamp():
    assert clamp(5) == 5
    assert clamp(-1) == 0
"""
PYTEST_CANDIDATE = """\
import pytest
from calc import divide


def test_division_by_zero_is_an_error():
    with pytest.raises(ZeroDivisionError):
        divide(1, 0)
"""
UNITTEST_ORIGINAL = """\
import unittest
from calc import clamp


class ClampTest(unittest.TestCase):
    def test_clamp(self):
        self.assertEqual(clamp(5), 5)
        self.assertEqual(clamp(-1), 0)
"""
UNITTEST_CANDIDATE = """\
import unittest
from calc import divide


class DivideTest(unittest.TestCase):
    def test_zero(self):
        with self.assertRaises(ZeroDivisionError):
            divide(1, 0)
"""
NODE_SOURCE = "export const clamp = (n) => Math.max(0, Math.min(10, n));\n"
NODE_BROKEN = NODE_SOURCE.replace("Math.max(0,", "Math.max(1,")
NODE_ORIGINAL = """\
import test from 'node:test';
import assert from 'node:assert/strict';
import {clamp} from '../src/calc.js';
test('clamp', () => { assert.equal(clamp(-1), 0); });
"""
NODE_CANDIDATE = """\
import {describe, it} from 'node:test';
import assert from 'node:assert/strict';
import {clamp} from '../src/calc.js';
describe('clamp', () => { it('keeps zero', () => assert.equal(clamp(0), 0)); });
"""

Json = dict[str, Any]


def make_project(root: Path, files: Mapping[str, str], config: Json | None = None) -> Path:
    """A project that git tracks. New cases run once more unless its configuration says otherwise."""
    root.mkdir(parents=True, exist_ok=True)
    write(root, files)
    if config is not None:
        write(root, {"tddswarm.config.json": json.dumps({"evidence": {"repeats": 1}, **config})})
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def write(root: Path, files: Mapping[str, str]) -> None:
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8")


def pytest_project(root: Path, **more: str) -> Path:
    """calc.py and one green test of it."""
    files = {"calc.py": CALC, "tests/test_calc.py": PYTEST_ORIGINAL, **more}
    return make_project(root, files, {"adapter": "pytest"})


def patch(files: Mapping[str, str] | None = None, **more: Any) -> Json:
    """A patch whose review accepted it and names its oracle; by default one that is accepted in a pytest project."""
    proposed = {"tests/test_divide.py": PYTEST_CANDIDATE} if files is None else files
    return {
        "files": [{"path": path, "content": content} for path, content in proposed.items()],
        "requirements": "Numbers stay between 0 and 10. Division by zero is an error.",
        "review": {
            "accepted": True,
            "findings": [],
            "oracle": {"independent": True, "basis": ["the requirements"]},
        },
        **more,
    }


def defect(path: str = "calc.py", content: str = BROKEN_CALC, name: str = "lower bound") -> Json:
    return {"name": name, "path": path, "content": content}


def stage_and_validate(root: Path, proposed: Json) -> evidence.Validation:
    return evidence.validate(root, evidence.stage(root, proposed))


def run_suite(root: Path, folder: Path, *only: str, stop_early: bool = False) -> Run:
    """Run a project's suite, or some of its test files, in a copy of it."""
    folder = folder.resolve()
    configured = settings.parse(settings.read(str(root)))
    framework = frameworks.of_project(str(root), configured)
    sources = Scan(str(root), ()).snapshot().files()
    place = Place(str(root), configured, framework, list(sources), str(folder))
    copy = WorkingCopy(str(root), str(folder), sources)
    return running.run(place, "suite", copy.prepare("copy", {}, []), only, stop_early=stop_early)


def outcomes(run: Run) -> dict[str, str]:
    """How the cases of a run ended, by name. Each name has one case."""
    assert set(run.cases.values()) <= {1}
    found = {case.name: case.outcome for case in run.cases}
    assert len(found) == run.count(), run.cases
    return found


def records(root: Path) -> list[Json]:
    """The verified records of a project's memory."""
    return store.parse(store.read_bytes(str(root))).records


def validation_file(root: Path, candidate: str) -> Path:
    return root / ".tddswarm/candidates" / candidate / "validation.json"


def reseal(path: Path, change: Any) -> None:
    """Change a sealed file, and seal it anew as a forger would."""
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(canonical.pretty(canonical.seal(value)), encoding="utf-8")


def tree(root: Path) -> dict[str, bytes]:
    """Every file below ``root``."""
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def fill(root: Path, numbers: range, *, accepted: bool = True) -> None:
    """Put episodes into a project's memory, through the one door; a rejected one has no pattern."""
    outcome: Json = {"outcome": "accepted", "tags": ["boundary", "assertion"]}
    if not accepted:
        outcome = {"outcome": "rejected", "tags": ["error"], "warnings": ["case-loss"]}
    made = [
        make_episode(
            number,
            f"def test_{number}():\n    assert {number}\n" if accepted else "",
            language="python",
            framework="pytest",
            **outcome,
        )
        for number in numbers
    ]
    root.mkdir(parents=True, exist_ok=True)
    writer.update(str(root), lambda found: [*found, *made])
