"""Times whole commands in turns."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from testlore.stages.clean import clean

from benchmarks import corpus

DODO = Path(__file__).resolve().parent.parent / "dodo.py"
QUERY = "retry timeout"
EPISODES = 200
PLAIN = [sys.executable, "-c", "import json, hashlib, subprocess"]
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
_ONE_TASK = "def say(): print('x')\ndef task_a(): return {'actions': [say], 'uptodate': [False]}\n"

Times = dict[str, list[float]]


def script(name: str) -> str:
    """A command that is installed beside this interpreter."""
    return str(Path(sys.executable).parent / name)


def recall_command(root: Path, testlore: str = "") -> list[str]:
    """A recall of a project, as JSON.

    Args:
        testlore: the program; by default the one that is installed beside this interpreter.
    """
    return [testlore or script("testlore"), "recall", "--root", str(root), "--query", QUERY, "--json"]


def doit_command(root: Path, doit: str = "", dodo: Path = DODO) -> list[str]:
    """The same recall by doit; by default with the doit beside this interpreter and the dodo.py of this checkout."""
    asked = [f"query={QUERY}", f"root={root}", "format=json"]
    return [doit or script("doit"), "-f", str(dodo), "recall", *asked]


def timed(command: list[str]) -> float:
    """The seconds of one run. It must succeed, and a recall must be native."""
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, env=ENVIRONMENT, check=False)
    seconds = time.perf_counter() - begin
    if done.returncode or ("recall" in command and b'"retrieval":"ruvector"' not in done.stdout):
        raise SystemExit(f"{command} failed:\n{done.stdout.decode()}\n{done.stderr.decode()}")
    return seconds


def alternate(steps: dict[str, Callable[[], float]], runs: int, progress: Callable[[str], object]) -> Times:
    """Time every step once in each turn. The first turn fills the caches and does not count."""
    times: Times = {name: [] for name in steps}
    for turn in range(runs + 1):
        progress(f"\r{turn}/{runs}")
        for name, step in steps.items():
            seconds = step()
            if turn:
                times[name].append(seconds)
    progress("\n")
    return times


def measure(runs: int, progress: Callable[[str], object]) -> Times:
    """Time warm and cold recalls, rebuilds after one more episode, and plain starts of Python and doit."""
    with tempfile.TemporaryDirectory() as folder:
        one_task = Path(folder, "dodo.py")
        one_task.write_text(_ONE_TASK)
        roots = {dimensions: Path(folder, str(dimensions)) for dimensions in (128, 2048)}
        records = {}
        for dimensions, root in roots.items():
            root.mkdir()
            records[dimensions] = corpus.write_project(root, EPISODES, dimensions)

        def cold(command: list[str]) -> float:
            clean(str(roots[128]))
            return timed(command)

        def rebuild(dimensions: int) -> float:
            """One episode leaves the memory; it comes back in the next turn."""
            root, found = roots[dimensions], records[dimensions]
            timed(recall_command(root))
            found.append(found.pop(0))
            corpus.write_store(root, found[1:])
            return timed(recall_command(root))

        doit = script("doit")
        root = roots[128]
        steps: dict[str, Callable[[], float]] = {
            "python": lambda: timed(PLAIN),
            "testlore recall, warm": lambda: timed(recall_command(root)),
            "doit": lambda: timed([doit, "-f", str(one_task)]),
            "doit recall, warm": lambda: timed(doit_command(root)),
            "rebuild for one new episode, 128 dimensions": lambda: rebuild(128),
            "rebuild for one new episode, 2048 dimensions": lambda: rebuild(2048),
            "testlore recall, cold build": lambda: cold(recall_command(root)),
            "doit, cold build": lambda: cold([doit, "-f", str(DODO), f"root={root}"]),
        }
        corpus.write_store(root, records[128])
        # Each turn ends with a cold build, so the next turn's warm recalls find an index.
        return alternate(steps, runs, progress)
