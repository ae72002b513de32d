"""Many processes at once on one project: bursts of recalls, captures and merges."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import corpus
from benchmarks.commands import ENVIRONMENT, PLAIN, recall_command, script

RECALLS, CAPTURES, MERGES = 16, 4, 2
_EPISODES = 100
_CAPTURE = str(Path(__file__).with_name("capture.py"))


class ProcessResult(NamedTuple):
    """A process of a burst that has ended: its command, how long it took, and what it printed."""

    command: list[str]
    seconds: float
    output: str


def burst(commands: list[list[str]]) -> list[ProcessResult]:
    """Start all commands at once, and wait for all of them.

    Raises:
        SystemExit: one of them failed.
    """
    begin = time.perf_counter()
    running = {
        number: subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        for number, command in enumerate(commands)
    }
    ended: dict[int, ProcessResult] = {}
    while running:
        for number, process in list(running.items()):
            if process.poll() is not None:
                seconds = time.perf_counter() - begin
                output, errors = process.communicate()
                if process.returncode:
                    raise SystemExit(f"{commands[number]} failed:\n{output}\n{errors}")
                ended[number] = ProcessResult(commands[number], seconds, output)
                del running[number]
        time.sleep(0.002)
    return [ended[number] for number in sorted(ended)]


def mixed_burst(root: Path, other: Path, number: int) -> list[list[str]]:
    """The commands of one burst. Its captures bring episodes that no other burst brings."""
    captures = [[sys.executable, _CAPTURE, str(root), str(10_000 + number * CAPTURES + n)] for n in range(CAPTURES)]
    merges = [[script("testlore"), "merge", "--root", str(root), "--from", str(other)]] * MERGES
    return [*captures, *merges, *([recall_command(root)] * RECALLS)]


def measure(seconds: float) -> dict[str, float]:
    """Run bursts, and compare a recall in them with a recall among as many plain starts of Python.

    Args:
        seconds: for how long.

    Returns:
        ``ratio``: the 95th percentile of the former divided by the median of the latter; ``recalls``: how many recalls
        the bursts had; ``fallbacks``: how many of these were lexical.
    """
    alone: list[float] = []
    crowded: list[float] = []
    fallbacks = 0
    with tempfile.TemporaryDirectory() as folder:
        root, other = Path(folder, "project"), Path(folder, "other")
        root.mkdir()
        corpus.write_project(root, _EPISODES)
        shutil.copytree(root, other)
        burst([recall_command(root)])
        for number in _until(seconds):
            plain = [PLAIN] * (RECALLS + CAPTURES + MERGES - 1)
            alone += [burst([recall_command(root), *plain])[0].seconds]
            for ended in burst(mixed_burst(root, other, number)):
                if ended.command == recall_command(root):
                    crowded.append(ended.seconds)
                    fallbacks += json.loads(ended.output)["retrieval"] != "ruvector"
    p95 = statistics.quantiles(crowded, n=20)[-1]
    return {"ratio": p95 / statistics.median(alone), "recalls": len(crowded), "fallbacks": fallbacks}


def _until(seconds: float) -> Iterator[int]:
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        yield number
        number += 1
