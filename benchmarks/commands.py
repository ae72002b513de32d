"""Whole commands, timed in alternation."""

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


def timed(command: list[str]) -> float:
    """Seconds of one run, which must succeed; a recall must be native."""
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, env=ENVIRONMENT, check=False)
    seconds = time.perf_counter() - begin
    if done.returncode or ("recall" in command and b'"retrieval":"ruvector"' not in done.stdout):
        raise SystemExit(f"{command} failed:\n{done.stdout.decode()}\n{done.stderr.decode()}")
    return seconds


def alternate(steps: dict[str, Callable[[], float]], runs: int, progress: Callable[[str], object]) -> Times:
    """The seconds of every step of every turn; a first turn, which fills caches and byte code, does not count."""
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
    """Warm and cold recalls, and rebuilds after one more episode, beside plain starts of Python and doit."""
    with tempfile.TemporaryDirectory() as folder:
        one_task = Path(folder, "dodo.py")
        one_task.write_text(_ONE_TASK)
        roots = {dimensions: Path(folder, str(dimensions)) for dimensions in (128, 2048)}
        records = {}
        for dimensions, root in roots.items():
            root.mkdir()
            records[dimensions] = corpus.write_project(root, EPISODES, dimensions)

        def recall(root: Path) -> list[str]:
            return [script("testlore"), "recall", "--root", str(root), "--query", QUERY, "--json"]

        def cold(command: list[str]) -> float:
            clean(str(roots[128]))
            return timed(command)

        def rebuild(dimensions: int) -> float:
            """One episode goes, and comes back in the next turn."""
            root, found = roots[dimensions], records[dimensions]
            timed(recall(root))
            found.append(found.pop(0))
            corpus.write_store(root, found[1:])
            return timed(recall(root))

        doit = script("doit")
        root = roots[128]
        warm_doit = [doit, "-f", str(DODO), "recall", f"query={QUERY}", f"root={root}", "format=json"]
        steps: dict[str, Callable[[], float]] = {
            "python": lambda: timed(PLAIN),
            "testlore recall, warm": lambda: timed(recall(root)),
            "doit": lambda: timed([doit, "-f", str(one_task)]),
            "doit recall, warm": lambda: timed(warm_doit),
            "rebuild for one new episode, 128 dimensions": lambda: rebuild(128),
            "rebuild for one new episode, 2048 dimensions": lambda: rebuild(2048),
            "testlore recall, cold build": lambda: cold(recall(root)),
            "doit, cold build": lambda: cold([doit, "-f", str(DODO), f"root={root}"]),
        }
        corpus.write_store(root, records[128])
        # After a cold build the next turn's warm recalls find an index.
        return alternate(steps, runs, progress)
