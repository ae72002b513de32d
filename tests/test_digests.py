"""What decides a derived outcome is digested: other code, or another schema, makes it anew."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import testlore
from helpers import REPOSITORY, Project
from testlore import digests, engines, schemas

PACKAGE = Path(testlore.__file__).parent

#: Modules that the deciding ones import, and why they decide nothing.
DECIDES_NOTHING = {
    "digests.py": "says what decides",
    "errors.py": "words of failures, which are never kept",
    "child.py": "runs a worker; what it answers is checked",
    "progress.py": "says how far work is, and decides nothing",
    "libraries.py": "says where an installed library is imported from",
    "cache.py": "keeps bytes, and decides none",
    "project/git.py": "hands on what git says, and decides nothing",
    "project/safe_files.py": "reads bytes, and decides none",
    "project/trust.py": "says whether a kept file may be believed, and decides no byte of it",
    "programs.py": "says what may be started",
    "engines/__init__.py": "names the engines; each one's own code is digested with it",
    "engines/pool.py": "starts workers; what they answer is checked",
    "engines/wheel.py": "starts the worker, whose code is digested",
    "engines/node.py": "starts the worker, whose code is digested",
    "evidence/__init__.py": "hands on what validation says",
    "evidence/baseline.py": "keeps a run, and decides none",
    "evidence/room.py": "says whether there is room; without, nothing is judged",
    **dict.fromkeys(
        ("memory/episode.py", "memory/find.py", "memory/tombstones.py", "memory/writer.py"),
        "remembers what was judged before",
    ),
    "project/temporary.py": "makes and removes folders",
    "project/machine.py": "says whether a kept run may be believed",
    "embedding/__init__.py": "names the providers, whose identities stand in the key",
    "memory/store.py": "says which episodes there are, whose digests stand in the key",
    "ranking/bm25.py": "counts for the ranking, which is never kept but as statistics",
    "stages/configuration.py": "reads the stamp, and decides nothing that it holds",
    "stages/validate.py": "writes the stamp, and decides nothing that it holds",
    "stages/key.py": "decides the key",
    "project/settings.py": "the settings that count stand in the key",
    "schemas.py": "checks, and decides no byte of an index",
}


def imported(module: str) -> set[str]:
    """Our own modules that a module of ours imports, as paths in the package."""
    found = set()
    for node in ast.walk(ast.parse((PACKAGE / module).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("testlore"):
            base = (node.module or "").split(".")[1:]
            for name in [[*base, alias.name] for alias in node.names] + [base]:
                path = "/".join(name)
                for candidate in (f"{path}.py", f"{path}/__init__.py"):
                    if path and (PACKAGE / candidate).is_file() and (PACKAGE / candidate).stat().st_size > 200:
                        found.add(candidate)
    return found


@pytest.mark.parametrize("outcome", sorted(digests.DECIDED_BY))
def test_every_module_behind_an_outcome_is_digested_or_said_to_decide_nothing(outcome: str) -> None:
    files = [name for name in digests.files(outcome) if name.endswith(".py")]
    for name in files:
        unknown = imported(name) - {*files, *DECIDES_NOTHING}
        assert not unknown, f"{name} imports {sorted(unknown)}, which {outcome!r} does not digest"


def test_every_file_that_decides_exists() -> None:
    for outcome in digests.DECIDED_BY:
        assert len(digests.of(outcome)) == 64
    for runtime in engines.NAMES:
        assert digests.of("index", *engines.engine(runtime).CODE) != digests.of("index")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with a copy of the package, whose files a test may change."""
    package = tmp_path / "package"
    shutil.copytree(PACKAGE, package / "testlore", ignore=shutil.ignore_patterns("__pycache__", "schemas"))
    shutil.copytree(REPOSITORY / "schemas", package / "testlore/schemas")
    return package


def change(package: Path, module: str, old: str, new: str) -> None:
    path = package / "testlore" / module
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


def answered_by(package: Path, project: Project) -> Project:
    return project.with_env(PYTHONPATH=os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")]))


def test_a_schema_that_changes_makes_a_warm_cache_check_the_configuration_again(
    project: Project, package: Path
) -> None:
    copied = answered_by(package, project)
    assert [copied.ask_natively(), copied.ask_natively()] == ["built", "reused"]
    path = package / "testlore/schemas/config.schema.json"
    schema = json.loads(path.read_text("utf-8"))
    schema["properties"]["adapter"]["enum"].remove("node")
    path.write_text(json.dumps(schema))
    answer = copied.ask(status=2)
    assert answer["reason"].startswith('configuration-invalid: adapter is "node"')


def test_other_rules_for_sources_make_a_kept_snapshot_anew(project: Project, package: Path) -> None:
    change(package, "project/snapshot.py", "_SMALL = 200", "_SMALL = 2")
    change(package, "project/snapshot.py", "_LARGE = 2_000", "_LARGE = 4")
    subprocess.run(["git", "init", "-q"], cwd=project.root, check=True)
    subprocess.run(["git", "add", "-A"], cwd=project.root, check=True)
    code = "from testlore.stages.session import Session; print(Session('.').provenance().source_hash)"

    def source_hash() -> str:
        done = answered_by(package, project).python("-c", code)
        assert len(done.stdout) == 65, done.stderr
        return done.stdout

    before = source_hash()
    assert source_hash() == before
    change(package, "project/listing.py", '".git", ".tddswarm"', '".git", ".tddswarm", "src"')
    assert source_hash() != before


def test_other_code_around_an_embedding_command_makes_its_vectors_anew(project: Project, package: Path) -> None:
    say = (
        "import json, sys; r = json.load(sys.stdin); n = r['dimensions'];"
        "print(json.dumps({'schemaVersion': 1, 'vectors': [[len(t) + i for i in range(n)] for t in r['texts']]}))"
    )
    argv = [sys.executable, "-c", say]
    project.configure({"embedding": {"mode": "command", "argv": argv, "identity": "lengths"}})
    copied = answered_by(package, project)
    assert [copied.ask_natively(), copied.ask_natively()] == ["built", "reused"]
    change(package, "embedding/command.py", "value / norm", "-value / norm")
    assert copied.ask_natively() == "built"


def test_the_defaults_of_the_schema_are_those_of_the_code() -> None:
    from testlore.project.settings import Settings

    plugin = schemas.load("config")["properties"]["plugins"]["properties"]["ruvector"]["properties"]
    default = Settings()
    assert plugin["runtime"]["enum"] == list(engines.NAMES)
    assert default.runtime in plugin["runtime"]["enum"]
    assert plugin["dimensions"]["minimum"] <= default.dimensions <= plugin["dimensions"]["maximum"]
    assert plugin["timeoutMs"]["minimum"] <= default.timeout_ms <= plugin["timeoutMs"]["maximum"]
