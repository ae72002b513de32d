"""The developer's tasks of this checkout, as ``doit`` shows and runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import REPOSITORY, libraries_without

DEVELOPERS = {"dev", "test", "lint", "coverage", "bench", "proof", "verify_receipt", "own_memory"}


def doit(*argv: str, only: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run doit in the checkout, with all that is installed or with the libraries of one folder only."""
    command = [sys.executable, *(["-S"] if only else []), "-m", "doit", *argv]
    # The tests' own processes load no plugins of pytest, but these tasks need one.
    env = {name: value for name, value in os.environ.items() if name != "PYTEST_DISABLE_PLUGIN_AUTOLOAD"}
    env |= {"PYTHONPATH": only} if only else {}
    return subprocess.run(command, cwd=REPOSITORY, env=env, capture_output=True, text=True, check=False)


def test_every_developers_task_is_listed_with_a_line() -> None:
    lines = dict(line.split(maxsplit=1) for line in doit("list").stdout.splitlines())
    assert lines.keys() >= DEVELOPERS


@pytest.mark.parametrize("chosen", [["--", "tests/test_canonical.py"], ["tests/test_canonical.py"], ["--quick"]])
def test_what_stands_after_test_chooses_the_tests(chosen: list[str]) -> None:
    done = doit("test", *chosen, *([] if "tests/test_canonical.py" in chosen else ["--"]), "--collect-only", "-qq")
    assert done.returncode == 0, done.stderr
    files = [line.partition(":")[0] for line in done.stdout.splitlines()]
    assert "tests/test_canonical.py" in files
    assert "tests/test_tasks.py" not in files


@pytest.mark.parametrize(("task", "tool"), [("lint", "ruff"), ("test", "pytest"), ("coverage", "coverage")])
def test_a_tool_that_is_missing_is_named_with_what_installs_it(tmp_path: Path, task: str, tool: str) -> None:
    done = doit(task, only=libraries_without(tool, tmp_path / "libraries"))
    assert done.returncode == 1
    assert f"{tool} is not installed here; `doit dev` installs it" in done.stderr
