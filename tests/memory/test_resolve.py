"""Two branches that remembered and forgot: git merges them, with and without the merge driver, and nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from episodes import make_episode, make_episode_2, pattern
from evidence_helpers import fill, records
from helpers import Json, Project, golden
from testlore import schemas
from testlore.errors import Refusal, Unusable
from testlore.memory import store, writer
from testlore.memory.forget import forget
from testlore.memory.resolve import drive, resolve

DRIVER = f"'{sys.executable}' -m testlore merge-driver %O %A %B || git merge-file %A %O %B"


def git(root: Path, *arguments: str, status: int = 0) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == (status != 0), done.stdout + done.stderr
    return done.stdout + done.stderr


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", "remember")


def candidates(root: Path) -> list[str]:
    return [record["candidateId"] for record in records(root)]


@pytest.fixture(scope="module")
def _branches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """On ``main`` c1 was forgotten and c10 remembered, on ``other`` c11 and c12; both began with c0 to c2."""
    root = golden("till", tmp_path_factory.mktemp("branches") / "till")
    (root / store.INDEX_FILE).unlink()
    git(root, "init", "-q", "-b", "main")
    fill(root, range(3))
    commit(root)
    git(root, "checkout", "-q", "-b", "other")
    writer.update(str(root), lambda found: [*found, make_episode(11), make_episode_2(12)])
    commit(root)
    git(root, "checkout", "-q", "main")
    forget(root, ["c1"], "it was a trial")
    writer.update(str(root), lambda found: [*found, make_episode(10)])
    commit(root)
    return root


@pytest.fixture
def branches(_branches: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(_branches, tmp_path / "till", symlinks=True))


@pytest.fixture
def conflicted(branches: Path) -> Path:
    git(branches, "merge", "other", status=1)
    assert b"<<<<<<< " in (branches / store.INDEX_FILE).read_bytes()
    return branches


def test_a_conflict_is_resolved_into_the_union_and_what_was_forgotten_stays_away(conflicted: Path) -> None:
    union = resolve(conflicted)
    assert (union.ours, union.theirs, union.total, union.left) == (3, 5, 5, [])
    assert candidates(conflicted) == ["c12", "c11", "c10", "c2", "c0"]
    commit(conflicted)
    assert git(conflicted, "status", "--short") == ""


def test_a_rebase_is_resolved_alike(branches: Path) -> None:
    git(branches, "rebase", "other", status=1)  # its first commit forgets and remembers
    resolve(branches)
    assert candidates(branches) == ["c12", "c11", "c10", "c2", "c0"]


def test_a_conflict_is_told_with_the_way_out_wherever_the_memory_is_read(conflicted: Path) -> None:
    project = Project(conflicted)
    for door in ("testlore", "doit"):
        answer = project.ask(door, status=1)
        assert answer["reason"].startswith("store-conflicted: ")
        assert "run `testlore resolve`" in answer["reason"]
    for arguments in (["learn"], ["export"], ["forget", "c1", "--why", "x"], ["merge", "--from", "."]):
        done = project.testlore(*arguments)
        assert done.returncode == 1
        assert "store-conflicted" in done.stderr
        assert "testlore resolve" in done.stderr
    doctor = project.testlore("doctor")
    assert doctor.returncode == 1
    assert "store-conflicted" in doctor.stdout
    assert "-> Run `testlore resolve`" in doctor.stdout
    plain = project.doit()
    assert plain.returncode == 1
    assert "testlore resolve" in plain.stderr


def test_the_command_says_what_to_do_next(conflicted: Path) -> None:
    project = Project(conflicted)
    done = project.testlore("resolve")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "3 episodes of ours and 5 of theirs are 5 now",
        "next: git add .tddswarm/learning/index.json",
    ]
    assert project.run("bash", "-c", done.stdout.splitlines()[1].removeprefix("next: ")).returncode == 0
    assert project.ask()["records"] is not None
    again = project.testlore("resolve", "--json")
    assert again.returncode == 2
    assert json.loads(again.stdout)["reason"].startswith("call-invalid: git's index does not hold ours and theirs of")


def test_where_the_project_is_a_folder_of_the_repository_its_own_memory_is_resolved(tmp_path: Path) -> None:
    root = tmp_path / "repository/shop"
    fill(root, range(1))
    git(root.parent, "init", "-q", "-b", "main")
    commit(root.parent)
    git(root.parent, "checkout", "-q", "-b", "other")
    fill(root, range(1, 2))
    commit(root.parent)
    git(root.parent, "checkout", "-q", "main")
    fill(root, range(2, 3))
    commit(root.parent)
    git(root.parent, "merge", "other", status=1)
    assert resolve(root).total == 3


def test_what_was_remembered_after_a_conflict_is_not_lost(conflicted: Path) -> None:
    git(conflicted, "checkout", "--ours", "--", store.INDEX_FILE)
    fill(conflicted, range(20, 21))
    assert resolve(conflicted).total == 6
    assert "c20" in candidates(conflicted)


def test_a_side_that_is_no_store_is_named_and_nothing_is_changed(branches: Path) -> None:
    git(branches, "checkout", "-q", "other")
    file = branches / store.INDEX_FILE
    file.write_bytes(file.read_bytes().replace(b'"accepted"', b'"rejected"', 1))
    commit(branches)
    git(branches, "checkout", "-q", "main")
    git(branches, "merge", "other", status=1)
    before = file.read_bytes()
    with pytest.raises(Unusable, match=r"store-corrupt.*in theirs: "):
        resolve(branches)
    assert file.read_bytes() == before


def test_without_a_conflict_there_is_nothing_to_resolve(branches: Path, tmp_path: Path) -> None:
    before = (branches / store.INDEX_FILE).read_bytes()
    with pytest.raises(Refusal, match="call-invalid"):
        resolve(branches)
    assert (branches / store.INDEX_FILE).read_bytes() == before
    with pytest.raises(Refusal, match="call-invalid"):
        resolve(tmp_path)


def use_driver(root: Path) -> None:
    (root / ".gitattributes").write_text(f"{store.INDEX_FILE} merge=testlore\n")
    git(root, "config", "merge.testlore.driver", DRIVER)


def test_with_the_driver_git_merges_by_itself_and_loses_nothing(branches: Path) -> None:
    use_driver(branches)
    git(branches, "merge", "-q", "--no-edit", "other")
    assert candidates(branches) == ["c12", "c11", "c10", "c2", "c0"]
    assert [one["id"] for one in store.parse(store.read_bytes(str(branches))).forgotten] == [make_episode(1)["id"]]
    assert "Merge branch" in git(branches, "log", "-1", "--format=%s")


def test_the_driver_leaves_a_side_that_is_no_store_to_git(branches: Path) -> None:
    use_driver(branches)
    git(branches, "checkout", "-q", "other")
    file = branches / store.INDEX_FILE
    file.write_bytes(file.read_bytes().replace(b'"accepted"', b'"rejected"', 1))
    commit(branches)
    git(branches, "checkout", "-q", "main")
    assert "CONFLICT" in git(branches, "merge", "other", status=1)
    assert b"<<<<<<< " in file.read_bytes()


def sides(folder: Path, ours: list[Json], theirs: list[Json]) -> list[str]:
    files = []
    for name, found in (("ours", ours), ("theirs", theirs)):
        (folder / name).write_bytes(writer.to_bytes(sorted(found, key=store.newest_first)))
        files.append(str(folder / name))
    return files


def test_the_driver_says_which_episodes_had_to_leave(tmp_path: Path) -> None:
    ours, theirs = [make_episode(number) for number in range(150)], [make_episode(number) for number in range(150, 202)]
    files = sides(tmp_path, ours, theirs)
    os.chmod(files[0], 0o640)
    union = drive(*files)
    assert (union.total, union.left) == (200, [ours[1]["id"], ours[0]["id"]])
    assert len(store.parse((tmp_path / "ours").read_bytes()).records) == 200
    assert (tmp_path / "ours").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("wrong", ["ours", "theirs"])
@pytest.mark.parametrize("content", [b"", b"{}", b"<<<<<<< a\n=======\n>>>>>>> b\n", None])
def test_the_driver_changes_nothing_where_a_side_is_no_store(tmp_path: Path, wrong: str, content: bytes | None) -> None:
    files = sides(tmp_path, [make_episode(1)], [make_episode(2)])
    (tmp_path / wrong).unlink()
    if content is not None:
        (tmp_path / wrong).write_bytes(content)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises((Refusal, Unusable)):
        drive(*files)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_reason_with_a_conflict_fits_the_schema_of_answers() -> None:
    answer = {"records": [], "advisoryOnly": True, "reason": "store-conflicted: x"}
    assert schemas.first_problem("answer", answer) is None


def test_a_conflict_that_makes_the_memory_larger_than_it_may_be_is_resolved_too(tmp_path: Path) -> None:
    def large(numbers: range) -> list[Json]:
        return [make_episode(number, patterns=[pattern("漢" * 1_100 + str(number))] * 8) for number in numbers]

    git(tmp_path, "init", "-q", "-b", "main")
    fill(tmp_path, range(1))
    commit(tmp_path)
    for branch, numbers in (("other", range(10, 90)), ("main", range(100, 180))):
        git(tmp_path, "checkout", "-q", *(["-b"] if branch == "other" else []), branch)
        writer.update(str(tmp_path), lambda found, numbers=numbers: [*found, *large(numbers)])  # type: ignore[misc]
        commit(tmp_path)
    git(tmp_path, "merge", "other", status=1)
    assert (tmp_path / store.INDEX_FILE).stat().st_size > store.MAX_BYTES
    with pytest.raises(Unusable, match="store-conflicted"):
        store.read_bytes(str(tmp_path))
    union = resolve(tmp_path)
    assert (union.ours, union.theirs) == (81, 81)
    assert union.total + len(union.left) == 161
    assert union.left[-1] == make_episode(0)["id"]
