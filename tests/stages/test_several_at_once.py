"""Recalls at the same time, while the store changes, and after runs that were killed."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from episodes import make_episode
from helpers import (
    DOORS,
    Project,
    state,
    word,
)
from testlore import schemas


@pytest.mark.parametrize("door", DOORS)
def test_eight_at_once_are_all_answered_and_build_once(project: Project, door: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda _: project.recall(door), range(8)))
    for done in runs:
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        assert done.stdout.count("\n") == 1
        assert schemas.first_problem("answer", answer) is None
        assert word(answer) in ("", "ruvector-cache-busy")
    made = [json.loads(done.stdout).get("retrievalDetails", {}).get("cache") for done in runs]
    assert made.count("built") == 1
    before = state(project.database), state(project.metadata)
    assert project.ask_natively() == "reused"
    assert (state(project.database), state(project.metadata)) == before
    assert not list(project.cache.glob("*.testlore-tmp"))


def test_recalls_while_the_store_changes_all_succeed(project: Project) -> None:
    """Others capture meanwhile; nobody is told that the cache is corrupt, for it is not."""
    first = project.records()
    second = [*first, make_episode(1)]
    code = (
        "import sys; from testlore import recall\n"
        "for _ in range(40):\n"
        "    answer = recall('.', 'zero boundary')\n"
        "    print(answer.reason or answer.warnings[1:] or answer.retrieval)\n"
    )
    new = project.store.with_name("new.json")
    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(project.python, "-c", code) for _ in range(4)]
        turn = 0
        while not all(reader.done() for reader in readers):
            turn += 1
            store = Project(project.root)
            store.write_store((first, second)[turn % 2], path=new)
            new.replace(project.store)
            time.sleep(0.05)
    said = [line for reader in readers for line in reader.result().stdout.splitlines()]
    assert len(said) == 160
    assert {line for line in said if line != "ruvector" and "ruvector-cache-busy" not in line} == set()
    assert said.count("ruvector") > 100


def test_a_build_that_is_killed_at_any_moment_leaves_nothing_that_is_in_the_way(project: Project) -> None:
    chance = random.Random(7)
    project.write_store([make_episode(number, f"zero boundary {number}") for number in range(100)])
    finished = 0
    for turn in range(16):
        shutil.rmtree(project.cache, ignore_errors=True) if turn % 3 == 0 else project.change_one_episode()
        if turn % 3 == 1:
            project.write_store(project.records()[1:])
        argv = (
            ["-m", "testlore", "recall", "--query", "zero", "--json"]
            if turn % 2
            else ["-m", "doit", "-f", str(Path(__file__).parents[2] / "dodo.py"), f"root={project.root}"]
        )
        process = subprocess.Popen(
            [sys.executable, *argv],
            cwd=project.root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(chance.uniform(0.03, 0.3))
        finished += process.poll() is not None
        process.kill()
        process.wait()
        project.ask_natively(DOORS[turn // 2 % 2])
    assert finished < 14
