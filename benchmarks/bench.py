"""What ``doit bench`` runs: it times everything, as ratios to something plain in the same run.

Machines are shared and noisy, so only ratios mean something, and only within one run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tabulate import tabulate
from testlore.engines import wheel

from benchmarks import against, commands, crowd, huge, longlived, validation
from benchmarks.commands import Times

HERE = Path(__file__).resolve().parent
_VALIDATIONS = 3  # each takes half a minute


class Ratio(NamedTuple):
    """What is measured, what it is divided by, and the greatest ratio that we aim at."""

    name: str
    to: str
    aim: float | None = None


RATIOS = (
    Ratio("testlore recall, warm", "python", 2.5),
    Ratio("doit recall, warm", "doit", 1.6),
    Ratio("rebuild for one new episode, 128 dimensions", "testlore recall, warm", 4),
    Ratio("rebuild for one new episode, 2048 dimensions", "testlore recall, warm", 4),
    Ratio("testlore recall, cold build", "python"),
    Ratio("doit, cold build", "doit"),
    Ratio("snapshot of 50,000 files", "git status", 1.5),
    Ratio("second question of a process", "first question of a process", 0.33),
    Ratio("validate, no baseline", "suite", 3),
    Ratio("validate, with a baseline", "suite", 1.5),
)


def ratios(times: Times) -> list[dict[str, Any]]:
    """The median, minimum and maximum of everything measured, divided by the median of its comparison."""
    rows = []
    for name, to, aim in RATIOS:
        plain = statistics.median(times[to])
        found = [seconds / plain for seconds in times[name]]
        low, middle, high = (round(value, 2) for value in (min(found), statistics.median(found), max(found)))
        rows.append({"what": name, "to": to, "median": middle, "min": low, "max": high, "aim": aim})
    return rows


def _progress(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)


def _compare(python: Path, checkout: Path, runs: int) -> None:
    rows = against.measure(python, checkout, runs, _progress)
    headers = ("here : there", "median", "min", "max", "seconds here", "seconds there")
    print(tabulate([row.values() for row in rows], headers=headers))
    print(against.interpreters(python))


def main() -> None:
    """Measure, save the results, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--questions", type=int, default=10_000, help="how many questions the long-lived process asks")
    parser.add_argument("--soak", type=float, default=300, help="for how many seconds bursts run")
    parser.add_argument("--output", type=Path, default=HERE / "results.json")
    parser.add_argument(
        "--against",
        type=Path,
        metavar="PYTHON",
        help="only compare warm recalls with those of the venv of this interpreter",
    )
    parser.add_argument("--against-root", type=Path, metavar="DIR", help="the checkout that is installed there")
    arguments = parser.parse_args()
    if (arguments.against is None) != (arguments.against_root is None):
        parser.error("--against and --against-root go together")
    if arguments.against:
        _compare(arguments.against, arguments.against_root, arguments.runs)
        return
    times = commands.measure(arguments.runs, _progress)
    times |= huge.measure(arguments.runs, _progress)
    times |= validation.measure(min(arguments.runs, _VALIDATIONS), _progress)
    first_and_second, long = longlived.measure(arguments.runs, arguments.questions)
    many = crowd.measure(arguments.soak)
    rows = ratios({**times, **first_and_second})
    rows.append(
        {
            "what": f"p95 of a recall among {crowd.RECALLS + crowd.CAPTURES + crowd.MERGES} at once",
            "to": "its median among as many plain starts",
            "median": round(many["ratio"], 2),
            "aim": 3,
        }
    )
    sdk = wheel.locate(".")
    machine = {"cores": os.cpu_count(), "system": platform.system(), "architecture": platform.machine()}
    results = {
        "episodes": commands.EPISODES,
        "runs": arguments.runs,
        "machine": {**machine, "python": platform.python_version()},
        "sdk": {"name": sdk.name, "version": sdk.version},
        "ratios": rows,
        "longLived": {"questions": arguments.questions, "grownKiB": long["grown_kib"]},
        "crowd": {"seconds": arguments.soak, "recalls": many["recalls"], "fallbacks": many["fallbacks"]},
    }
    arguments.output.write_text(json.dumps(results, indent=2) + "\n")
    headers = ("what", "divided by", "median", "min", "max", "aim at most")
    shown = [[row.get(key, "") for key in ("what", "to", "median", "min", "max", "aim")] for row in rows]
    print(tabulate(shown, headers=headers))
    print(f"{arguments.questions} questions of one process: its memory grew by {long['grown_kib']} KiB")
    print(f"{many['recalls']} recalls in bursts: all answered, {many['fallbacks']} of them lexically")


if __name__ == "__main__":
    main()
