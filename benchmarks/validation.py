"""Times the validation of a candidate with two held-out defects, and one run of the whole suite of that project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from testlore.project import git

from benchmarks.commands import ENVIRONMENT, Times, script

FILES = 100
_CASES = 20  # in each test file
_GIT = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.invalid"]
_MODULE = """\
def total_{number}(values, least=0):
    result = 0
    for value in values:
        if value > least:
            result += value % {modulus}
    return result
"""
_TESTS = """\
import pytest
from shop.module{number} import total_{number}


@pytest.mark.parametrize("size", range({cases}))
def test_total(size):
    values = list(range(size * 2_000))
    assert total_{number}(values, -1) == sum(value % {modulus} for value in values)
"""
_CANDIDATE = """\
from shop.module0 import total_0


def test_the_least_value_itself_does_not_count():
    assert total_0([3, 4, 5], 4) == 5


def test_nothing_adds_up_to_nothing():
    assert total_0([]) == 0
"""


def make_project(root: Path) -> dict[str, Any]:
    """Write a project with 100 test files of 20 cases under git.

    Returns:
        A patch for it. Its new cases see two defects of which the old suite sees one.
    """
    module = _MODULE.format(number=0, modulus=7)
    for number in range(FILES):
        words = {"number": number, "modulus": 7 + number, "cases": _CASES}
        for path, text in ((f"shop/module{number}.py", _MODULE), (f"tests/test_module{number}.py", _TESTS)):
            target = root / path
            target.parent.mkdir(exist_ok=True)
            target.write_text(text.format(**words))
    (root / "shop/__init__.py").touch()
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    (root / "tddswarm.config.json").write_text('{"adapter": "pytest"}')
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*_GIT, *command], cwd=root, check=True, env=git.environment())
    defects = {"the least value counts": ("> least", ">= least"), "values are not reduced": (" % 7", " % 8")}
    return {
        "files": [{"path": "tests/test_least.py", "content": _CANDIDATE}],
        "requirements": "Only values above the least one are added.",
        "heldOutDefects": [
            {"name": name, "path": "shop/module0.py", "content": module.replace(*change)}
            for name, change in defects.items()
        ],
        "review": {"accepted": True, "findings": [], "oracle": {"independent": True, "basis": ["requirements"]}},
    }


def measure(runs: int, progress: Callable[[str], object]) -> Times:
    """Time a run of the whole suite, a validation without a kept baseline, and one with it, in turns."""
    times: Times = {"suite": [], "validate, no baseline": [], "validate, with a baseline": []}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "shop")
        root.mkdir()
        patch = Path(folder, "patch.json")
        patch.write_text(json.dumps(make_project(root)))
        staged = _run([script("testlore"), "stage", "--root", str(root), str(patch)]).split()[-1]
        validation = root / f".tddswarm/candidates/{staged}/validation.json"
        for turn in range(runs):
            progress(f"\r{turn}/{runs}")
            times["suite"].append(_timed([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], root))
            shutil.rmtree(root / ".tddswarm/baseline", ignore_errors=True)
            for name in ("validate, no baseline", "validate, with a baseline"):
                validation.unlink(missing_ok=True)
                times[name].append(_timed([script("testlore"), "validate", "--root", str(root), staged], root))
        progress("\n")
    return times


def _timed(command: list[str], root: Path) -> float:
    begin = time.perf_counter()
    _run(command, root)
    return time.perf_counter() - begin


def _run(command: list[str], root: Path | None = None) -> str:
    environment = {**ENVIRONMENT, "TESTLORE_TRUST": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment, check=False)
    if done.returncode not in (0, 1) or (done.returncode and os.path.basename(command[0]) != "testlore"):
        raise SystemExit(f"{command} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout
