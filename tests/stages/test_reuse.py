"""What was made is reused while it is proved, and made anew when it is not, by however many at once."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from episodes import make_episode
from helpers import (
    DOORS,
    GRAPH,
    Json,
    Project,
    ids,
    ran,
    skipped,
    state,
    states,
)
from wheel_stand_in import native_module

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
    project.change_one_episode()
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
@pytest.mark.parametrize("change", [Project.change_one_episode, _other_dimensions, _other_framework, _other_mode])
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


def test_one_more_episode_is_all_that_is_verified_counted_and_embedded(project: Project) -> None:
    project.ask_natively()
    project.write_store([*project.records(), make_episode(1, "retry timeout")])
    counting = (
        "import testlore.memory.store as store, testlore.ranking.bm25 as bm25, testlore.embedding.features as features;"
        "fault, statistics, vectors = store._fault, bm25.statistics, features.vectors; seen = [];"
        "store._fault = lambda record: seen.append('verified') or fault(record);"
        "bm25.statistics = lambda *texts: seen.append('counted') or statistics(*texts);"
        "features.vectors = lambda *all: seen.append(len(all[2])) or vectors(*all);"
        "from testlore import recall; answer = recall('.', 'zero boundary'); import sys;"
        "print(answer.details['cache'], seen, 'numpy' in sys.modules)"
    )
    done = project.python("-c", counting)
    assert done.stdout == "built ['verified', 'counted', 1] False\n", done.stderr
