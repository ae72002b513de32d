"""The graph as a plain ``doit`` runs it, in this repository and in a host project."""

from __future__ import annotations

import json

from helpers import (
    GRAPH,
    Project,
    ran,
    skipped,
    state,
    word,
)
from wheel_stand_in import WheelStandIn


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
