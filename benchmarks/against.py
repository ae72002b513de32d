"""Compares the warm recalls of two checkouts in one run, such as this one and the last release."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import corpus
from benchmarks.commands import DODO, EPISODES, doit_command, recall_command, script, timed


class Side(NamedTuple):
    """One of the two checkouts: its commands, its dodo.py, and a project of its own to ask."""

    testlore: str
    doit: str
    dodo: Path
    root: Path

    def commands(self) -> dict[str, list[str]]:
        """A warm recall by the ``testlore`` command, and one by doit."""
        return {
            "testlore recall, warm": recall_command(self.root, self.testlore),
            "doit recall, warm": doit_command(self.root, self.doit, self.dodo),
        }


def measure(python: Path, checkout: Path, runs: int, progress: Callable[[str], object]) -> list[dict[str, Any]]:
    """Time the recalls of this checkout and of another one in turns.

    Args:
        python: the interpreter of the virtual environment in which the other checkout is installed.
        checkout: the other checkout, for its dodo.py.
        runs: how many pairs of each recall count.

    Returns:
        A row for each recall: the median seconds ``here`` and ``there``, and the ``median``, ``min`` and ``max`` of the
        ratios here : there. Each ratio is that of two successive runs.

    Raises:
        SystemExit: a recall failed or was not native, or the other checkout lacks a file.
    """
    with tempfile.TemporaryDirectory() as folder:
        here = Side(script("testlore"), script("doit"), DODO, Path(folder, "here"))
        beside = python.absolute().parent  # not resolved: a virtual environment's interpreter is a link
        there = Side(
            str(beside / "testlore"), str(beside / "doit"), checkout.resolve() / "dodo.py", Path(folder, "there")
        )
        for path in (there.testlore, there.doit, there.dodo):
            if not Path(path).is_file():
                raise SystemExit(f"there is no {path}; give --against VENV/bin/python and --against-root CHECKOUT")
        for side in (here, there):
            side.root.mkdir()
            corpus.write_project(side.root, EPISODES)
        pairs = {name: (command, there.commands()[name]) for name, command in here.commands().items()}
        return [_row(name, _alternate(*pair, runs, progress)) for name, pair in pairs.items()]


def interpreters(python: Path) -> str:
    """Both versions of Python. When they differ, a ratio says little about the checkouts."""
    say = "import platform; print(platform.python_version(), end='')"
    both = [
        subprocess.run([each, "-c", say], capture_output=True, text=True, check=True)
        for each in (script("python"), python)
    ]
    return f"here Python {both[0].stdout}, there Python {both[1].stdout}"


def _alternate(
    here: list[str], there: list[str], runs: int, progress: Callable[[str], object]
) -> list[tuple[float, float]]:
    """The seconds of both commands in each turn. They take turns at being first, so that the order favours neither."""
    found = []
    for command in (here, there) * 2:  # not counted: they build the index and fill the caches
        timed(command)
    for turn in range(runs):
        progress(f"\r{turn + 1}/{runs}")
        if turn % 2:
            seconds = timed(there)
            found.append((timed(here), seconds))
        else:
            found.append((timed(here), timed(there)))
    progress("\n")
    return found


def _row(name: str, pairs: list[tuple[float, float]]) -> dict[str, Any]:
    ratios = [here / there for here, there in pairs]
    middle = {"median": statistics.median(ratios), "min": min(ratios), "max": max(ratios)}
    here, there = (statistics.median(seconds) for seconds in zip(*pairs, strict=True))
    return {"what": name, **{key: round(value, 3) for key, value in {**middle, "here": here, "there": there}.items()}}
