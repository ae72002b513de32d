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


def _tool(name: str, *argv: str) -> Callable[[], object]:
    """A tool of the ``dev`` extra as an action."""
    run = of_checkout("-m", name, *argv)
    return lambda: run() if find_spec(name) else TaskFailed(f"{name} is not installed here; `doit dev` installs it")


def _always(*actions: object, **more: object) -> Task:
    """A task that runs its actions each time and shows what they print."""
    return {"actions": list(actions), "uptodate": [False], "verbosity": 2, **more}


def _set_up() -> Task:
    python = ".venv/bin/python"
    make = [] if Path(python).exists() else [[sys.executable, "-m", "venv", ".venv"]]
    install = [python, "-m", "pip", "install", "-q", "-e", ".[ruvector,dev]"]
    hook = [[python, "-m", "pre_commit", "install", "--allow-missing-config"]] if Path(".git").exists() else []
    return _always(*make, install, *hook)


def _run_tests(quick: bool, others: list[str]) -> object:
    return _tool("pytest", *_PARALLEL, *(QUICK if quick else ()), *others)()


_QUICK_OPTION = {
    "name": "quick",
    "long": "quick",
    "type": bool,
    "default": False,
    "help": "only the quick tests",
}
_PARALLEL = ("-q", "-n", "auto", "--dist", "worksteal")
_STYLE = (("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy", "--strict"))
_COVERAGE = (
    ("coverage", "erase"),
    ("coverage", "run", "-m", "pytest", *_PARALLEL, "-k", _MEASURABLE),
    ("coverage", "combine", "-q"),
    ("coverage", "report"),
)

# doit reads the source of each creator at every start, so creators stay short.


def task_dev() -> Task:
    """Set up for development: .venv with all tools, and the hooks for git commit"""
    return _set_up()


def task_test() -> Task:
    """Run the tests: [--quick] [-- more arguments of pytest]"""
    return _always(_run_tests, params=[_QUICK_OPTION], pos_arg="others")


def task_lint() -> Task:
    """Check style and types: ruff and mypy, as the hooks and the gate do"""
    return _always(*(_tool(*command) for command in _STYLE))


def task_coverage() -> Task:
    """Run the tests and measure their coverage, in child processes too; benchmarks/ keeps the totals"""
    return _always(*(_tool(*command) for command in _COVERAGE), of_checkout("benchmarks/rooms.py"))


def task_bench() -> Task:
    """Time warm and cold recalls as ratios to plain starts"""
    return _always([sys.executable, "benchmarks/bench.py"])


def task_proof() -> Task:
    """Prove the whole on a disposable project, and write its receipt: [runtime=python|node sdk_root=DIR]"""
    return _always(of_checkout("-m", "proof", "prove", options=("runtime", "sdk_root")))


def task_verify_receipt() -> Task:
    """Say whether the committed receipts still fit today's sources"""
    return _always(of_checkout("-m", "proof", "verify"))


def task_own_memory() -> Task:
    """Validate proof/candidates, and remember them in this repository: [check=N only validates N of them again]"""
    return _always(of_checkout("-m", "proof", "own-memory", options=("check",)))
