"""A long-lived process: what the first and the next questions cost, and whether its memory grows."""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import corpus
from benchmarks.commands import EPISODES, QUERY, Times

_WARM_UP = 500  # questions until every bounded cache is full


def ask(root: str, questions: int) -> dict[str, float]:
    """Ask again and again in this process; the first question pays for the imports."""
    begin = time.perf_counter()
    from pipeline import recall

    times = []
    grown_from = 0
    for number in range(questions):
        answer = recall(root, f"{QUERY} {number % 50}")
        if answer.retrieval != "ruvector":
            raise SystemExit(f"not native: {answer}")
        times.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        if number == _WARM_UP:
            grown_from = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - grown_from if grown_from else 0
    return {"first": times[0], "second": times[1], "next": statistics.median(times[1:]), "grown_kib": grown}


def measure(runs: int, questions: int) -> tuple[Times, dict[str, float]]:
    """The first and the second question of fresh processes, and one process that asks very often."""
    times: Times = {"first question of a process": [], "second question of a process": []}
    with tempfile.TemporaryDirectory() as root:
        corpus.write_project(Path(root), EPISODES)
        for _ in range(runs + 1):
            found = _in_a_process(root, 2)
            times["first question of a process"].append(found["first"])
            times["second question of a process"].append(found["second"])
        return {name: seconds[1:] for name, seconds in times.items()}, _in_a_process(root, questions)


def _in_a_process(root: str, questions: int) -> dict[str, float]:
    command = [sys.executable, __file__, root, str(questions)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    print(json.dumps(ask(sys.argv[1], int(sys.argv[2]))))
