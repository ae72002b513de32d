"""The tasks of this repository for doit. ``doit list`` shows them."""

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from doit.exceptions import TaskFailed
from testlore.tasks import *  # noqa: F403
from testlore.tasks import (  # noqa: F401
    Task,
    doit_config,
    of_checkout,
    task_evaluate,
    task_export,
    task_generate,
    task_learn,
    task_merge,
)

DOIT_CONFIG = doit_config()

#: The quick tests, which take about a minute and run on every version of Python: all that computes, and some recalls.
QUICK = (
    *("tests/ranking", "tests/memory", "tests/project", "tests/embedding/test_features.py"),
    *("tests/stages/test_golden.py", "tests/test_canonical.py", "tests/test_child.py", "tests/test_digests.py"),
)

_MEASURABLE = "not imports_nothing"  # those tests fail when coverage.py itself imports a module


def task_dev() -> Task:
    """Set up for development: .venv with all tools, and the hooks for git commit"""
    python = ".venv/bin/python"
    make = [] if Path(python).exists() else [[sys.executable, "-m", "venv", ".venv"]]
    install = [python, "-m", "pip", "install", "-q", "-e", ".[ruvector,dev]"]
    hook = [[python, "-m", "pre_commit", "install", "--allow-missing-config"]] if Path(".git").exists() else []
    return {"actions": [*make, install, *hook], "uptodate": [False], "verbosity": 2}


def _tool(name: str, *argv: str) -> Callable[[], object]:
    """A tool of the ``dev`` extra as an action."""
    run = of_checkout("-m", name, *argv)
    return lambda: run() if find_spec(name) else TaskFailed(f"{name} is not installed here; `doit dev` installs it")


def task_test() -> Task:
    """Run the tests: [--quick] [-- more arguments of pytest]"""

    def run(quick: bool, others: list[str]) -> object:
        return _tool("pytest", "-q", "-n", "auto", *(QUICK if quick else ()), *others)()

    option = {"name": "quick", "long": "quick", "type": bool, "default": False, "help": "only the quick tests"}
    return {"actions": [run], "params": [option], "pos_arg": "others", "uptodate": [False], "verbosity": 2}


def task_lint() -> Task:
    """Check style and types: ruff and mypy, as the hooks and the gate do"""
    commands = (("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy", "--strict"))
    return {"actions": [_tool(*command) for command in commands], "uptodate": [False], "verbosity": 2}


def task_coverage() -> Task:
    """Run the tests and measure their coverage, in child processes too; benchmarks/ keeps the totals"""
    actions = [
        _tool("coverage", "erase"),
        _tool("coverage", "run", "-m", "pytest", "-q", "-n", "auto", "-k", _MEASURABLE),
        _tool("coverage", "combine", "-q"),
        _tool("coverage", "report"),
        of_checkout("benchmarks/rooms.py"),
    ]
    return {"actions": actions, "uptodate": [False], "verbosity": 2}


def task_bench() -> Task:
    """Time warm and cold recalls as ratios to plain starts"""
    return {"actions": [[sys.executable, "benchmarks/bench.py"]], "uptodate": [False], "verbosity": 2}


def task_proof() -> Task:
    """Prove the whole on a disposable project, and write its receipt: [runtime=python|node sdk_root=DIR]"""
    prove = of_checkout("-m", "proof", "prove", options=("runtime", "sdk_root"))
    return {"actions": [prove], "uptodate": [False], "verbosity": 2}


def task_verify_receipt() -> Task:
    """Say whether the committed receipts still fit today's sources"""
    return {"actions": [of_checkout("-m", "proof", "verify")], "uptodate": [False], "verbosity": 2}


def task_own_memory() -> Task:
    """Validate proof/candidates, and remember them in this repository: [check=N only validates N of them again]"""
    return {
        "actions": [of_checkout("-m", "proof", "own-memory", options=("check",))],
        "uptodate": [False],
        "verbosity": 2,
    }
