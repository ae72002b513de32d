"""The two doors to evidence: the ``testlore`` commands and the doit tasks, as processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import testlore
from evidence_helpers import defect, fill, make_project, patch, pytest_project, records, tree
from testlore.memory import store

REPOSITORY = Path(testlore.__file__).parents[2]

Done = subprocess.CompletedProcess[str]


def lore(*arguments: str | Path, stdin: str = "") -> Done:
    command = [sys.executable, "-m", "testlore", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=REPOSITORY)


def doit(*arguments: str) -> Done:
    return subprocess.run([sys.executable, "-m", "doit", *arguments], capture_output=True, text=True, cwd=REPOSITORY)


def value(done: Done, status: int = 0) -> Any:
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def test_from_a_patch_to_an_answer(tmp_path: Path) -> None:
    root = pytest_project(tmp_path / "shop")
    file = tmp_path / "patch.json"
    file.write_text(json.dumps(patch(heldOutDefects=[defect()])), encoding="utf-8")
    made = value(lore("stage", file, "--root", root, "--json"))
    name = made["id"]
    assert made == {"id": name}
    assert lore("stage", "-", "--root", root, stdin=file.read_text("utf-8")).stdout == f"{name}\n"
    assert value(lore("candidates", "--root", root, "--json")) == {
        "candidates": [{"id": name, "state": "staged", "reasons": [], "files": 1}]
    }
    ended = value(lore("validate", name, "--root", root, "--json"))
    assert (ended["outcome"], ended["reasons"], ended["evidence"]["caughtDefects"]) == ("accepted", [], 1)
    assert ended["record"] == records(root)[0]["id"]
    assert "accepted" in lore("candidates", "--root", root).stdout
    answer = value(lore("recall", "--root", root, "--query", "division by zero", "--json"))
    assert [record["id"] for record in answer["records"]] == [ended["record"]]


def test_a_rejection_is_an_answer_and_says_why(tmp_path: Path) -> None:
    root = pytest_project(tmp_path / "shop")
    broken = json.dumps(patch({"tests/test_new.py": "import nowhere_at_all\n"}))
    name = lore("stage", "-", "--root", root, stdin=broken).stdout.strip()
    done = lore("validate", name, "--root", root)
    assert done.returncode == 1
    assert done.stdout.startswith(f"{name} rejected: candidate-incomplete\n  candidate-incomplete: collection-failed\n")
    assert "nowhere_at_all" in done.stderr
    assert "candidate-incomplete" in lore("candidates", "--root", root).stdout


@pytest.mark.parametrize(
    ("arguments", "stdin", "status", "words"),
    [
        (["stage", "-"], "{", 2, "patch-invalid: not JSON"),
        (["stage", "-"], "{}", 2, "lacks the key"),
        (["stage", "no-such-file.json"], "", 2, "call-invalid: patch is 'no-such-file.json'"),
        (["validate", "unknown"], "", 2, "candidate-unknown: there is no candidate unknown"),
        (["learn"], "", 0, "no-memory"),
        (["export"], "", 0, "no-memory"),
        (["forget", "12345678", "--why", "x"], "", 0, "no-memory"),
        (["merge", "--from", "no-such-folder"], "", 2, "call-invalid: source is 'no-such-folder'"),
    ],
)
def test_a_wrong_call_names_what_was_wrong(
    tmp_path: Path, arguments: list[str], stdin: str, status: int, words: str
) -> None:
    root = make_project(tmp_path / "shop", {"calc.py": ""})
    before = tree(root)
    done = lore(*arguments, "--root", root, stdin=stdin)
    assert (done.returncode, done.stdout) == (status, "")
    assert words in done.stderr
    assert words in value(lore(*arguments, "--root", root, "--json", stdin=stdin), status)["reason"]
    assert tree(root) == before


def test_a_wrong_time_limit_is_refused_by_its_key(tmp_path: Path) -> None:
    root = make_project(tmp_path / "shop", {"calc.py": ""}, {"validation": {"timeoutSeconds": 0, "other": 1}})
    done = lore("stage", "-", "--root", root, stdin=json.dumps(patch()))
    assert done.returncode == 2
    assert "validation.timeoutSeconds is 0; allowed: a whole number from 1 to 86400" in done.stderr


def test_forgetting_says_what_it_removed(tmp_path: Path) -> None:
    fill(tmp_path, range(2))
    newest, oldest = records(tmp_path)
    done = lore("forget", newest["id"][:12], "--why", "a trial", "--root", tmp_path)
    assert done.stdout == (
        f"removed {newest['id'][:12]}, accepted, of {newest['createdAt']}: boundary, assertion\nwhy: a trial\n"
    )
    assert records(tmp_path) == [oldest]
    removed = value(lore("forget", oldest["id"], "--why", "a trial", "--json", "--root", tmp_path))["removed"]
    assert [one["id"] for one in removed] == [oldest["id"]]
    assert records(tmp_path) == []


def test_both_doors_learn_export_and_merge_alike(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    fill(here, range(3))
    fill(there, range(3, 5))
    twin = tmp_path / "twin"
    fill(twin, range(3))
    merged = value(lore("merge", "--from", there, "--root", here, "--json"))
    assert merged == {"added": 2, "known": 0, "dropped": 0, "total": 5, "forgotten": 0, "left": []}
    assert value(doit("merge", f"source={there}", f"root={twin}", "format=json")) == merged
    assert (twin / store.INDEX_FILE).read_bytes() == (here / store.INDEX_FILE).read_bytes()
    for command in ("learn", "export"):
        assert doit(command, f"root={here}").stdout == lore(command, "--root", here).stdout
        first = value(doit(command, f"root={here}", "format=json"))
        assert first == value(lore(command, "--root", here, "--json"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["merge"], "source is missing"),
        (["merge", "sorce=x"], "there is no variable 'sorce'"),
        (["learn", "format=prompt"], "format is 'prompt'; allowed: table, json"),
        (["merge", "source=/no/such/folder"], "source is '/no/such/folder'"),
    ],
)
def test_a_wrong_task_call_names_what_was_wrong(tmp_path: Path, arguments: list[str], words: str) -> None:
    fill(tmp_path, range(1))
    done = doit(*arguments, f"root={tmp_path}")
    assert done.returncode == 2
    assert words in done.stderr


def test_the_tasks_are_not_put_upon_a_host_project() -> None:
    from testlore import tasks

    assert {"task_learn", "task_export", "task_merge"}.isdisjoint(tasks.__all__)
    assert {"learn", "export", "merge"} <= {line.split()[0] for line in doit("list").stdout.splitlines()}


def test_asking_a_memory_imports_nothing_of_evidence(tmp_path: Path) -> None:
    fill(tmp_path, range(1))
    script = (
        "import sys\nfrom testlore import cli\n"
        f"cli.main(['recall', '--root', {str(tmp_path)!r}, '--query', 'boundary', '--json'])\n"
        "print(sorted(name for name in sys.modules if 'evidence' in name or name in ('filelock', 'xml')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=REPOSITORY)
    assert done.stdout.splitlines()[-1] == "[]"
