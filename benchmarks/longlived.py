"""Times the first and the second question of a process, and measures whether a long-lived one's memory grows."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import corpus
from benchmarks.commands import ENVIRONMENT, EPISODES, Times

_QUESTIONS = str(Path(__file__).with_name("questions.py"))


def measure(runs: int, questions: int) -> tuple[Times, dict[str, float]]:
    """Time the first two questions of fresh processes, and let one process ask very often.

    Returns:
        The seconds of the first and of the second question, and what :func:`benchmarks.questions.ask` measured of the
        one that asks often.
    """
    times: Times = {"first question of a process": [], "second question of a process": []}
    with tempfile.TemporaryDirectory() as root:
        corpus.write_project(Path(root), EPISODES)
        for turn in range(runs + 1):
            found = _in_a_process(root, 2)
            if turn:  # the first builds the index
                times["first question of a process"].append(found["first"])
                times["second question of a process"].append(found["second"])
        return times, _in_a_process(root, questions)


def _in_a_process(root: str, questions: int) -> dict[str, float]:
    command = [sys.executable, _QUESTIONS, root, str(questions)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    found: dict[str, float] = json.loads(done.stdout)
    return found
