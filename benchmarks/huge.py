"""Times the snapshot of a repository with 50,000 files, and ``git status`` there."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from testlore.cache import Cache
from testlore.frameworks import python
from testlore.project import git, snapshot

from benchmarks.commands import Times, alternate

FILES = 50_000
_IN_A_FOLDER = 50
_GIT = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.invalid"]


def measure(runs: int, progress: Callable[[str], object]) -> Times:
    """Time ``git status --porcelain``, and a snapshot that finds nothing changed, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for number in range(FILES // _IN_A_FOLDER):
            place = root / f"package{number // 20}" / f"module{number}"
            place.mkdir(parents=True)
            for file in range(_IN_A_FOLDER):
                (place / f"file{file}.py").write_text(f"# {number} {file}\n" * 40)
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
            subprocess.run([*_GIT, *command], cwd=root, check=True, env=git.environment())
        time.sleep(2.5)  # until no file is racily clean, see testlore.project.snapshot
        cache = Cache(folder)
        for _ in range(2):
            snapshot.Scan(folder, python.TOOL_FILES, cache).snapshot()

        def take() -> float:
            begin = time.perf_counter()
            snapshot.Scan(folder, python.TOOL_FILES, cache).snapshot()
            return time.perf_counter() - begin

        status_of, environment = ["git", "status", "--porcelain"], git.environment()

        def status() -> float:
            begin = time.perf_counter()
            subprocess.run(status_of, cwd=root, check=True, capture_output=True, env=environment)
            return time.perf_counter() - begin

        return alternate({"git status": status, "snapshot of 50,000 files": take}, runs, progress)
