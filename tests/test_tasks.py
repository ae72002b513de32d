"""The graph as doit users meet it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from helpers import GRAPH, Project, content, ids


def test_every_task_has_a_line_and_they_stand_in_the_graphs_order(project: Project) -> None:
    lines = project.doit("list").stdout.splitlines()
    names = [line.split()[0] for line in lines]
    assert [name for name in names if name in GRAPH] == GRAPH
    assert all(len(line.split(maxsplit=1)) == 2 for line in lines)


def test_info_and_list_change_nothing(project: Project) -> None:
    before = sorted(project.root.rglob("*"))
    assert project.doit("list", "-s").returncode == 0
    done = project.doit("info", "index")
    assert "Bring the native index up to date" in done.stdout
    assert "is_indexed" in done.stdout
    assert sorted(project.root.rglob("*")) == before


def test_both_doors_answer_the_same(project: Project) -> None:
    project.ask_natively()
    assert project.ask("doit") == project.ask("testlore")


@pytest.mark.parametrize("verbosity", [[], ["-v", "0"], ["-v", "1"], ["-v", "2"]])
def test_standard_output_is_the_answer_alone(project: Project, verbosity: list[str]) -> None:
    done = project.doit(*verbosity, "recall", "query=zero boundary", "format=json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["retrieval"] == "ruvector"
    assert "recall" in done.stderr


def test_limit_and_budget_hold(project: Project) -> None:
    done = project.doit("recall", "query=zero boundary", "format=json", "limit=2", "max_chars=1500")
    assert len(done.stdout) <= 1500
    assert 1 <= len(json.loads(done.stdout)["records"]) <= 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["query=zero", "limit=0"], "limit is 0; allowed: a whole number from 1 to 20"),
        (["query=zero", "max_chars=x"], "max_chars is 'x'; allowed"),
        (["query=zero", "format=xml"], "format is 'xml'; allowed: table, json, prompt"),
        (["query=zero", "limt=5"], "there is no variable 'limt'; allowed: query, root"),
        (["qurey=zero"], "there is no variable 'qurey'; allowed: query, root"),
        (["query=zero", "colour=red"], "there is no variable 'colour'; allowed: query, root"),
        ([], "query is missing; give it as in: doit recall query"),
    ],
)
def test_a_wrong_variable_is_named_with_what_is_allowed(project: Project, arguments: list[str], told: str) -> None:
    done = project.doit("recall", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_call_in_json_is_answered_in_json(project: Project) -> None:
    done = project.doit("recall", "query=zero", "format=json", "limit=0")
    assert done.returncode == 2
    assert json.loads(done.stdout)["reason"].startswith("call-invalid: limit is 0")


def test_a_root_that_is_no_folder_is_refused(project: Project, tmp_path: Path) -> None:
    done = Project(tmp_path / "missing").doit("recall", "query=zero", "format=json", cwd=tmp_path)
    assert done.returncode == 2
    assert json.loads(done.stdout)["reason"].startswith("call-invalid: root is ")


def test_a_relative_root_is_seen_from_where_doit_was_called(project: Project) -> None:
    dodo = Path(__file__).parent.parent / "dodo.py"
    command = [sys.executable, "-m", "doit", "-f", str(dodo), "recall", "query=zero", "format=json", "root=till"]
    done = project.run(*command, cwd=project.root.parent)
    assert ids(json.loads(done.stdout))


def test_a_project_with_a_dodo_of_its_own_takes_the_tasks_in(project: Project) -> None:
    (project.root / "dodo.py").write_text(
        "from testlore.tasks import *\n\nDOIT_CONFIG = {'default_tasks': ['hello']}\n\n\n"
        "def task_hello():\n    'Say hello'\n    return {'actions': ['echo hello']}\n"
    )
    listed = project.python("-m", "doit", "list").stdout
    assert [line.split()[0] for line in listed.splitlines()] == sorted([*GRAPH, "hello"])
    assert "hello" in project.python("-m", "doit", "mode=own").stdout
    done = project.python("-m", "doit", "recall", "query=zero boundary", "format=json")
    assert done.returncode == 0
    [answer] = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert json.loads(answer)["retrieval"] == "ruvector"


def test_a_hosts_plain_doit_runs_all_tasks_without_a_question(project: Project) -> None:
    (project.root / "dodo.py").write_text("from testlore.tasks import *\n")
    done = project.python("-m", "doit", "mode=own")
    assert done.returncode == 0, done.stderr
    assert content(project.database) is not None


def test_a_store_that_is_corrupt_ends_recall_with_1_and_the_reason(project: Project) -> None:
    project.store.write_text("{}")
    answer = project.ask("doit", status=1)
    assert answer["reason"].startswith("store-corrupt")
    done = project.doit()
    assert done.returncode == 1
    assert "store-corrupt" in done.stderr


def test_a_configuration_that_is_wrong_ends_with_2(project: Project) -> None:
    project.configure(adapter="mocha")
    answer = project.ask("doit", status=2)
    assert answer["reason"].startswith('configuration-invalid: adapter is "mocha"; allowed: one of node')
    assert project.doit().returncode == 2


def test_a_doit_database_that_is_garbage_stops_nothing(project: Project) -> None:
    project.ask_natively("doit")
    database = project.cache / "doit.sqlite3"
    database.write_bytes(b"garbage" * 500)
    assert project.ask_natively("doit") == "reused"
    assert database.read_bytes() == b"garbage" * 500
    assert "cannot be read" in project.recall("doit").stderr
    assert project.doit("clean").returncode == 0
    assert not project.cache.exists()


@pytest.mark.parametrize("arguments", [[], ["--forget"], ["-n"], ["-a"], ["index"]])
def test_clean_removes_the_derived_cache_and_nothing_else(project: Project, arguments: list[str]) -> None:
    project.ask_natively("doit")
    before = {path: content(path) for path in project.root.rglob("*") if project.cache not in [path, *path.parents]}
    done = project.doit("clean", *arguments)
    assert done.returncode == 0, done.stderr
    assert "vectors.rvf" in done.stderr
    assert project.cache.exists() == (arguments == ["-n"])
    assert {path: content(path) for path in before} == before


@pytest.mark.parametrize("kind", ["process", "thread"])
def test_a_host_that_runs_tasks_in_parallel_stays_native(project: Project, kind: str) -> None:
    (project.root / "dodo.py").write_text(
        f"from testlore.tasks import *\n\nDOIT_CONFIG = {{'num_process': 2, 'par_type': '{kind}'}}\n"
    )
    for cache in ("built", "reused", "reused"):
        done = project.python("-m", "doit", "recall", "query=zero boundary", "format=json")
        assert done.returncode == 0, done.stderr
        [answer] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        assert answer["retrieval"] == "ruvector", answer["warnings"]
        assert answer["retrievalDetails"]["cache"] == cache


def test_a_graph_with_a_stage_that_is_the_hosts_own_is_refused_by_name(project: Project) -> None:
    (project.root / "dodo.py").write_text(
        "from testlore.tasks import *\n\n\ndef task_index():\n    'Mine'\n    return {'actions': ['echo mine']}\n"
    )
    done = project.python("-m", "doit", "recall", "query=zero boundary", "format=json")
    assert done.returncode == 2
    assert "the task 'index' of this dodo.py is not testlore's" in done.stderr
    assert 'creators(prefix="memory_")' in done.stderr
    assert '"records"' not in done.stdout


def test_the_graph_under_other_names_stands_beside_the_hosts_own_tasks(project: Project) -> None:
    (project.root / "dodo.py").write_text(
        "import testlore.tasks\n\nglobals().update(testlore.tasks.creators(prefix='memory_'))\n\n\n"
        "def task_index():\n    'Mine'\n    return {'actions': ['echo mine']}\n"
    )
    listed = [line.split()[0] for line in project.python("-m", "doit", "list").stdout.splitlines()]
    assert listed == sorted(["index", *(f"memory_{name}" for name in GRAPH)])
    assert "mine" in project.python("-m", "doit", "-v", "2", "index").stdout
    for cache in ("built", "reused"):
        done = project.python("-m", "doit", "memory_recall", "query=zero boundary", "format=json")
        assert done.returncode == 0, done.stderr
        [answer] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        assert answer["retrievalDetails"]["cache"] == cache


@pytest.mark.parametrize("wrong", ["format=xml", "limit=0", "limt=3", "colour=red"])
def test_a_wrong_call_starts_no_engine(project: Project, wrong: str) -> None:
    done = project.doit("recall", "query=zero boundary", wrong)
    assert done.returncode == 2
    assert not project.cache.exists()


def test_a_project_with_a_folder_pipeline_of_its_own_takes_the_tasks_in(project: Project) -> None:
    own = project.root / "pipeline"
    own.mkdir()
    (own / "__init__.py").write_text("NAME = 'mine'\n")
    (project.root / "dodo.py").write_text(
        "import pipeline\nfrom testlore.tasks import *\n\nassert pipeline.NAME == 'mine'\n"
    )
    done = project.python("-m", "doit", "recall", "query=zero boundary", "format=json")
    assert done.returncode == 0, done.stderr
    assert '"retrieval":"ruvector"' in done.stdout
