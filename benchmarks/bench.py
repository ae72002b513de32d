"""What ``doit bench`` runs: whole commands, timed in alternation, as ratios to plain starts in the same run.

Machines are shared and noisy: only the ratios mean something, and only within one run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import corpus
from pipeline.cache import Cache
from pipeline.engines import wheel

HERE = Path(__file__).resolve().parent
DODO = HERE.parent / "dodo.py"
QUERY = "retry timeout"
EPISODES = 200
ONE_TASK = "def say(): print('x')\ndef task_a(): return {'actions': [say], 'uptodate': [False]}\n"

#: name -> what it is compared with, and the most that we aim at.
RATIOS = {
    "testlore recall, warm": ("python", 2.8),
    "doit recall, warm": ("doit", 1.8),
    "testlore recall, cold build": ("python", None),
    "doit, cold build": ("doit", None),
}


def commands(root: Path, one_task: Path) -> dict[str, list[str]]:
    """The commands to time, by name."""
    scripts = Path(sys.executable).parent
    testlore, doit = str(scripts / "testlore"), str(scripts / "doit")
    recall = [testlore, "recall", "--root", str(root), "--query", QUERY, "--json"]
    return {
        "python": [sys.executable, "-c", "import json, hashlib, subprocess"],
        "testlore recall, warm": recall,
        "doit": [doit, "-f", str(one_task)],
        "doit recall, warm": [doit, "-f", str(DODO), "recall", f"query={QUERY}", f"root={root}", "format=json"],
        "testlore recall, cold build": recall,
        "doit, cold build": [doit, "-f", str(DODO), f"root={root}"],
    }


def timed(command: list[str]) -> float:
    """Seconds of one run, which must succeed; a recall must be native."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, env=environment, check=False)
    seconds = time.perf_counter() - begin
    if done.returncode or ("recall" in command and b'"retrieval":"ruvector"' not in done.stdout):
        raise SystemExit(f"{command} failed:\n{done.stdout.decode()}\n{done.stderr.decode()}")
    return seconds


def measure(runs: int, progress: Callable[[str], object]) -> dict[str, list[float]]:
    """The seconds of every run of every command, taken in alternation."""
    with tempfile.TemporaryDirectory() as folder:
        root, one_task = Path(folder, "project"), Path(folder, "one", "dodo.py")
        root.mkdir()
        one_task.parent.mkdir()
        one_task.write_text(ONE_TASK)
        corpus.write_project(root, EPISODES)
        todo = commands(root, one_task)
        times: dict[str, list[float]] = {name: [] for name in todo}
        for turn in range(runs + 1):
            progress(f"\r{turn}/{runs}")
            for name, command in todo.items():
                if "cold" in name:
                    Cache(str(root)).clean()
                seconds = timed(command)
                if turn:  # the first turn fills caches and byte code
                    times[name].append(seconds)
        progress("\n")
    return times


def report(times: dict[str, list[float]]) -> dict[str, Any]:
    """The results: for every name its median, minimum and maximum ratio to the median of what it is compared with."""
    rows = {}
    for name, (base, aim) in RATIOS.items():
        plain = statistics.median(times[base])
        ratios = [seconds / plain for seconds in times[name]]
        row = {"to": base, "median": statistics.median(ratios), "min": min(ratios), "max": max(ratios), "aim": aim}
        rows[name] = {key: round(value, 2) if isinstance(value, float) else value for key, value in row.items()}
    sdk = wheel.locate(".")
    machine = {"cores": os.cpu_count(), "system": platform.system(), "architecture": platform.machine()}
    return {
        "episodes": EPISODES,
        "runs": len(times["python"]),
        "machine": {**machine, "python": platform.python_version()},
        "sdk": {"name": sdk.name, "version": sdk.version},
        "ratios": rows,
    }


def main() -> None:
    """Measure, print the table, save the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--output", type=Path, default=HERE / "results.json")
    arguments = parser.parse_args()
    results = report(measure(arguments.runs, lambda text: print(text, end="", file=sys.stderr, flush=True)))
    from tabulate import tabulate

    rows = [(n, r["to"], r["median"], r["min"], r["max"], r["aim"] or "") for n, r in results["ratios"].items()]
    print(tabulate(rows, headers=("command", "ratio to a plain", "median", "min", "max", "aim at most")))
    arguments.output.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
