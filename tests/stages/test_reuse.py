"""What was made is reused while it is proved, and made anew when it is not, by however many at once."""

from __future__ import annotations

import fcntl
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from episodes import make_episode, reseal
from helpers import (
    DOORS,
    Done,
    Json,
    Project,
    ids,
    is_alive,
    state,
    states,
    wait_until,
    word,
)
from testlore import schemas
from wheel_stand_in import WheelStandIn, native_module

GRAPH = ["validate", "key", "embed", "index", "query", "recall"]

PROVIDER = """
import hashlib, json, os, sys

request = json.load(sys.stdin)
with open(os.environ["COUNTS"], "a") as file:
    file.write(f"{len(request['texts'])} ")


def vector(text):
    numbers = [0.001] * request["dimensions"]
    for word in text.split():
        numbers[int(hashlib.sha256(word.encode()).hexdigest(), 16) % len(numbers)] += 1
    return numbers


print(json.dumps({"schemaVersion": 1, "vectors": [vector(text) for text in request["texts"]]}))
"""


class Counted:
    """A project whose texts are embedded by a command that counts them."""

    def __init__(self, project: Project, counts: Path) -> None:
        self.project = project.with_env(COUNTS=str(counts))
        self._counts = counts
        (project.root / "embed.py").write_text(PROVIDER)
        self.configure()

    def configure(self, plugin: Json | None = None, **others: Any) -> None:
        embedding = {"mode": "command", "argv": [sys.executable, "embed.py"], "identity": "words"}
        self.project.configure({"embedding": embedding, **(plugin or {})}, **others)

    def embedded(self) -> list[int]:
        """How many texts each call since the last look embedded."""
        calls = [int(count) for count in self._counts.read_text().split()] if self._counts.exists() else []
        self._counts.write_text("")
        return calls


@pytest.fixture
def counted(project: Project, tmp_path: Path) -> Counted:
    return Counted(project, tmp_path / "counts")


def skipped(done: Done) -> list[str]:
    """The tasks that doit found up to date."""
    return [line[3:] for line in done.stderr.splitlines() if line.startswith("-- ")]


def ran(done: Done) -> list[str]:
    return [line[3:] for line in done.stderr.splitlines() if line.startswith(".  ")]


def _change_one(project: Project) -> None:
    records = project.records()
    project.write_store([reseal(records[0], tags=["async"]), *records[1:]])


@pytest.mark.parametrize("first", DOORS)
def test_a_second_run_finds_all_but_the_question_up_to_date(counted: Counted, first: str) -> None:
    project = counted.project
    assert project.ask_natively(first) == "built"
    assert counted.embedded() == [8]
    before = states(project.cache)
    assert project.ask_natively("doit") == "reused"
    second = project.recall("doit")
    assert skipped(second) == GRAPH[:4]
    assert ran(second) == GRAPH[4:]
    assert project.ask_natively("testlore") == "reused"
    assert counted.embedded() == [1, 1, 1]
    assert states(project.cache) == before


@pytest.mark.parametrize("door", DOORS)
def test_one_changed_episode_costs_one_text_and_a_new_index(counted: Counted, door: str) -> None:
    project = counted.project
    project.ask_natively(door)
    before = state(project.database)
    counted.embedded()
    _change_one(project)
    assert project.ask_natively(door) == "built"
    assert counted.embedded() == [2]
    assert state(project.database) != before
    assert project.ask_natively(door) == "reused"
    assert counted.embedded() == [1]


def test_an_episode_less_costs_no_text(counted: Counted) -> None:
    project = counted.project
    project.ask_natively()
    counted.embedded()
    project.write_store(project.records()[1:])
    assert project.ask_natively() == "built"
    assert counted.embedded() == [1]


def _other_dimensions(project: Project) -> None:
    project.configure({"dimensions": 64})


def _other_framework(project: Project) -> None:
    project.configure(adapter="jest")


def _other_mode(project: Project) -> None:
    (project.root / "embed.py").write_text(PROVIDER)
    command = {"mode": "command", "argv": [sys.executable, "embed.py"], "identity": "words"}
    project.configure({"embedding": command})


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("change", [_change_one, _other_dimensions, _other_framework, _other_mode])
def test_what_counts_rebuilds(project: Project, tmp_path: Path, change: Callable[[Project], None], door: str) -> None:
    project = project.with_env(COUNTS=str(tmp_path / "counts"))
    project.write_store([*project.records(), make_episode(1, framework="jest")])
    project.ask_natively(door)
    before = state(project.database)
    change(project)
    assert project.ask_natively(door) == "built"
    assert state(project.database) != before
    assert project.ask_natively(door) == "reused"


def _copy_of_the_wheel(folder: Path) -> Path:
    package = native_module().parent
    shutil.copytree(package, folder / "ruvector")
    for info in package.parent.glob("ruvector-*.dist-info"):
        shutil.copytree(info, folder / info.name)
        return folder / info.name / "RECORD"
    raise AssertionError("the wheel has no description")


@pytest.mark.parametrize("door", DOORS)
def test_another_sdk_rebuilds(project: Project, tmp_path: Path, door: str) -> None:
    record = _copy_of_the_wheel(tmp_path / "site")
    project = project.with_env(PYTHONPATH=str(tmp_path / "site"))
    assert project.ask_natively(door) == "built"
    before = state(project.database)
    with record.open("a") as file:
        file.write("ruvector/new.py,,\n")
    assert project.ask_natively(door) == "built"
    assert state(project.database) != before
    assert project.ask_natively(door) == "reused"


def test_another_identity_or_program_of_the_command_embeds_all_anew(counted: Counted) -> None:
    project = counted.project
    project.ask_natively()
    (project.root / "embed.py").write_text(PROVIDER + "# mended\n")
    assert project.ask_natively("doit") == "built"
    embedding = {"mode": "command", "argv": [sys.executable, "embed.py"], "identity": "other words"}
    project.configure({"embedding": embedding})
    assert project.ask_natively("doit") == "built"
    assert counted.embedded() == [8, 8, 8]


@pytest.mark.parametrize("door", DOORS)
def test_what_does_not_count_rebuilds_nothing(counted: Counted, door: str) -> None:
    project = counted.project
    project.ask_natively(door)
    before = state(project.database)
    counted.embedded()
    counted.configure({"timeoutMs": 9_000}, services={"db": "15"}, unknown={"other": "tool"})
    (project.root / "src/till.js").write_text("// changed\n")
    project.write_store(project.records()[::-1])
    assert project.ask_natively(door) == "reused"
    assert state(project.database) == before
    assert counted.embedded() == [1]


def test_an_edit_that_keeps_size_and_time_is_noticed(project: Project) -> None:
    project.write_store([make_episode(1, "alpha alpha"), make_episode(2, "gamma gamma")])
    assert ids(project.ask("doit", "alpha")) == [make_episode(1)["id"]]
    before = project.store.stat()
    project.write_store([make_episode(1, "gamma gamma"), make_episode(2, "alpha alpha")])
    assert project.store.stat().st_size == before.st_size
    os.utime(project.store, ns=(before.st_atime_ns, before.st_mtime_ns))
    answer = project.ask("doit", "alpha")
    assert answer["retrievalDetails"]["cache"] == "built"
    assert ids(answer) == [make_episode(2)["id"]]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "lost", [["doit.sqlite3"], ["doit.sqlite3", "validated.json", "embeddings.f32", "testlore.lock"]]
)
def test_what_is_lost_beside_the_index_rebuilds_nothing(counted: Counted, lost: list[str], door: str) -> None:
    project = counted.project
    project.ask_natively("doit")
    counted.embedded()
    before = state(project.database), state(project.metadata)
    for name in lost:
        (project.cache / name).unlink()
    assert project.doit().returncode == 0
    assert counted.embedded() == []
    assert project.ask_natively(door) == "reused"
    assert counted.embedded() == [1]
    assert (state(project.database), state(project.metadata)) == before


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("with_doit", [False, True], ids=["without-doits-database", "with-doits-database"])
def test_a_cache_restored_into_a_fresh_clone_rebuilds_nothing(
    counted: Counted, tmp_path: Path, with_doit: bool, door: str
) -> None:
    counted.project.ask_natively("doit")
    counted.embedded()
    clone = counted.project.moved(tmp_path / "a clone elsewhere")
    if not with_doit:
        (clone.cache / "doit.sqlite3").unlink()
    before = state(clone.database), state(clone.metadata)
    assert before[0].inode != state(counted.project.database).inode
    assert clone.doit().returncode == 0
    assert counted.embedded() == []
    assert clone.ask_natively(door) == "reused"
    assert counted.embedded() == [1]
    assert (state(clone.database), state(clone.metadata)) == before


def test_clean_removes_what_is_ours_and_nothing_else(project: Project) -> None:
    project.ask_natively("doit")
    theirs = {"vectors.db": b"theirs", "metadata.json": b"{}", "notes.txt": b"mine"}
    for name, data in theirs.items():
        (project.cache / name).write_bytes(data)
    kept = state(project.store)
    (project.cache / "vectors.rvf.1-a.testlore-tmp").mkdir()
    (project.cache / "vectors.rvf.1-a.testlore-tmp" / "vectors.rvf").write_bytes(b"left by a killed run")
    dry = project.doit("clean", "-n")
    assert dry.returncode == 0
    assert "would remove vectors.rvf" in dry.stderr
    assert project.database.exists()
    assert project.doit("clean").returncode == 0
    assert {path.name: path.read_bytes() for path in project.cache.iterdir()} == theirs
    assert state(project.store) == kept
    for name in theirs:
        (project.cache / name).unlink()
    project.ask_natively("doit")
    assert project.doit("clean").returncode == 0
    assert not project.cache.exists()
    assert project.doit("clean").returncode == 0
    assert state(project.store) == kept


def test_theirs_are_never_touched(project: Project) -> None:
    project.cache.mkdir()
    for name in ("vectors.db", "metadata.json"):
        (project.cache / name).write_bytes(b"theirs")
    before = states(project.cache)
    assert project.ask_natively() == "built"
    assert project.ask_natively("doit") == "reused"
    after = states(project.cache)
    assert {name: after[name] for name in before} == before


def test_doit_alone_builds_the_index_and_says_nothing_on_standard_output(project: Project) -> None:
    done = project.doit()
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert ran(done) == GRAPH[:4]
    assert skipped(project.doit()) == GRAPH[:4]
    assert project.ask_natively() == "reused"


def test_doit_alone_says_why_an_enabled_index_cannot_be_built(project_of_sdk: Project, sdk: WheelStandIn) -> None:
    sdk.break_with("raise ImportError")
    for _ in range(2):
        done = project_of_sdk.doit()
        assert done.returncode == 1
        assert "ruvector-native-load-failed" in done.stderr
        assert done.stdout == ""
    assert word(project_of_sdk.ask("doit")) == "ruvector-native-load-failed"
    sdk.mend()
    assert project_of_sdk.doit().returncode == 0


def _disabled(project: Project) -> None:
    project.configure({"enabled": False})


def _without_plugin(project: Project) -> None:
    (project.root / "tddswarm.config.json").write_text('{"adapter": "node"}')


def _without_configuration(project: Project) -> None:
    (project.root / "tddswarm.config.json").unlink()


@pytest.mark.parametrize("disable", [_disabled, _without_plugin, _without_configuration])
def test_a_disabled_plugin_loads_no_sdk_and_makes_no_cache(
    project_of_sdk: Project, sdk: WheelStandIn, lexical_ids: list[str], disable: Callable[[Project], None]
) -> None:
    project = project_of_sdk
    disable(project)
    sdk.break_with("open('loaded', 'w')")
    before = sorted(project.root.rglob("*"))
    for door in DOORS:
        answer = project.ask(door)
        assert word(answer) == ""
        assert ids(answer) == lexical_ids
    assert project.doit().returncode == 0
    assert project.doit("clean").returncode == 0
    assert project.testlore("doctor").returncode == 0
    assert sorted(project.root.rglob("*")) == before


def test_learning_that_is_disabled_overrides_the_plugin(project_of_sdk: Project, sdk: WheelStandIn) -> None:
    project = project_of_sdk
    project.configure(learning={"enabled": False})
    sdk.break_with("open('loaded', 'w')")
    before = sorted(project.root.rglob("*"))
    for door in DOORS:
        assert project.ask(door) == {"records": [], "advisoryOnly": True, "reason": "learning-disabled"}
    assert project.doit().returncode == 0
    assert sorted(project.root.rglob("*")) == before


def test_learning_that_was_disabled_later_leaves_the_cache_as_it_is(built: Project) -> None:
    built.configure(learning={"enabled": False})
    before = {path.name: state(path) for path in built.cache.iterdir()}
    for door in DOORS:
        assert built.ask(door)["reason"] == "learning-disabled"
    assert built.doit().returncode == 0
    assert {path.name: state(path) for path in built.cache.iterdir()} == before


def test_a_project_without_a_memory_gets_no_folders(project: Project) -> None:
    shutil.rmtree(project.root / ".tddswarm")
    for door in DOORS:
        answer = project.ask(door)
        assert answer["reason"].startswith("no-memory")
    project.doit()
    assert not (project.root / ".tddswarm").exists()


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
        shutil.rmtree(project.cache, ignore_errors=True) if turn % 3 == 0 else _change_one(project)
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


def test_what_killed_runs_left_behind_is_swept_away_whatever_its_age(built: Project) -> None:
    old, young, held = (built.cache / f"vectors.rvf.{name}.testlore-tmp" for name in ("1-old", "2-young", "3-held"))
    for folder in (old, young, held):
        folder.mkdir()
        (folder / "vectors.rvf").write_bytes(b"half")
        os.utime(folder, None if folder == young else (0, 0))
    lock = os.open(held, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)  # as its writer holds it
    _change_one(built)
    assert built.ask_natively() == "built"
    assert [folder.exists() for folder in (old, young, held)] == [False, False, True]
    os.close(lock)
    built.metadata.unlink()
    assert built.ask_natively() == "built"
    assert not held.exists()


def test_a_host_project_gets_the_tasks_beside_its_own(project: Project) -> None:
    (project.root / "dodo.py").write_text(
        "from testlore.tasks import *\n"
        "DOIT_CONFIG = {'default_tasks': ['hello']}\n"
        "def task_hello():\n    return {'actions': ['echo hello']}\n"
    )
    done = project.python("-m", "doit", "recall", "query=zero boundary", "format=json")
    assert done.returncode == 0
    assert json.loads(done.stdout.splitlines()[-1])["retrieval"] == "ruvector"
    assert project.python("-m", "doit").stdout == ".  hello\n"
    assert project.ask_natively() == "reused"


def test_one_more_episode_is_all_that_is_verified_counted_and_embedded(project: Project) -> None:
    project.ask_natively()
    project.write_store([*project.records(), make_episode(1, "retry timeout")])
    counting = (
        "import testlore.schemas as schemas, testlore.ranking.bm25 as bm25, testlore.embedding.features as features;"
        "first, statistics, vectors = schemas.first_problem, bm25.statistics, features.vectors; seen = [];"
        "schemas.first_problem = lambda *all: seen.append(all[2:3]) or first(*all);"
        "bm25.statistics = lambda texts: seen.append('counted') or statistics(texts);"
        "features.vectors = lambda *all: seen.append(len(all[2])) or vectors(*all);"
        "from testlore import recall; answer = recall('.', 'zero boundary'); import sys;"
        "print(answer.details['cache'], seen, 'numpy' in sys.modules)"
    )
    done = project.python("-c", counting)
    assert done.stdout == "built [(), ('record',), 'counted', 1] False\n", done.stderr


def test_a_long_lived_process_asks_one_worker_again_and_leaves_none(project: Project) -> None:
    asking = (
        "import os, subprocess; from testlore import recall; from testlore.engines import pool;"
        "start = pool.Child.__init__; starts = [];"
        "pool.Child.__init__ = lambda self, *a, **k: (starts.append(1), start(self, *a, **k))[1];"
        "answers = [recall('.', 'zero boundary') for _ in range(3)]; first = len(starts);"
        "answers += [recall('.', query) for query in ('cents', 'unicode accents')];"
        "print(len(starts) - first, [answer.retrieval for answer in answers]);"
        "print(*(worker.child._process.pid for worker in pool._waiting.values()))"
    )
    project.ask_natively()
    counted, pids = project.python("-c", asking).stdout.splitlines()
    assert counted == f"0 {['ruvector'] * 5}"
    assert wait_until(lambda: not any(is_alive(int(pid)) for pid in pids.split()))
    assert len(pids.split()) == 1


def test_a_worker_that_waits_is_replaced_when_it_dies(project: Project) -> None:
    asking = (
        "import os, time; from testlore import recall; from testlore.engines import pool; recall('.', 'zero boundary');"
        "[worker] = pool._waiting.values(); os.kill(worker.child._process.pid, 9); time.sleep(0.2);"
        "print(recall('.', 'zero boundary').retrieval)"
    )
    assert project.python("-c", asking).stdout == "ruvector\n"


def test_a_worker_whose_parent_was_killed_ends(project: Project) -> None:
    asking = (
        "import os; from testlore import recall; from testlore.engines import pool; recall('.', 'zero boundary');"
        "[worker] = pool._waiting.values(); print(worker.child._process.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    pid = int(project.python("-c", asking).stdout)
    assert wait_until(lambda: not is_alive(pid))
