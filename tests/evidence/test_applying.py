"""Applying: an accepted candidate's files get into the work tree, or nothing is written and the reason names why."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from evidence_helpers import (
    CALC,
    PYTEST_CANDIDATE,
    PYTEST_ORIGINAL,
    make_project,
    patch,
    pytest_project,
    reseal,
    stage_and_validate,
    tree,
    validation_file,
    write,
)
from helpers import Project, cannot_write
from testlore import canonical, evidence
from testlore.errors import Refusal

MORE = PYTEST_ORIGINAL + "\n\ndef test_more():\n    assert clamp(11) == 10\n"


@pytest.fixture(scope="module")
def _validated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    root = pytest_project(
        tmp_path_factory.mktemp("applied") / "shop", **{"tests/test_old.py": "def test_old(): pass\n"}
    )
    (root / "tests/test_calc.py").chmod(0o755)
    files = {"tests/test_calc.py": MORE, "tests/new/test_old_moved.py": "def test_old(): pass\n"}
    ended = stage_and_validate(root, patch(files, delete=["tests/test_old.py"]))
    assert ended.outcome == "accepted", ended
    return root, ended.id


@pytest.fixture
def validated(_validated: tuple[Path, str], tmp_path: Path) -> tuple[Path, str]:
    """A project with an accepted candidate that replaces a file, adds one, and deletes one."""
    root, name = _validated
    return Path(shutil.copytree(root, tmp_path / "shop")), name


def sources(root: Path) -> dict[str, bytes]:
    return {path: data for path, data in tree(root).items() if not path.startswith((".tddswarm", ".git"))}


def refusal(root: Path, name: str) -> Refusal:
    """The refusal, after which the work tree is as it was."""
    before = sources(root)
    with pytest.raises(Refusal) as caught:
        evidence.apply(root, name)
    assert sources(root) == before
    return caught.value


def test_its_files_are_written_and_deleted_and_modes_stay(validated: tuple[Path, str]) -> None:
    root, name = validated
    done = evidence.apply(root, name)
    assert done == (["tests/test_calc.py", "tests/new/test_old_moved.py"], ["tests/test_old.py"], [])
    assert (root / "tests/test_calc.py").read_text("utf-8") == MORE
    assert (root / "tests/test_calc.py").stat().st_mode & 0o777 == 0o755
    assert (root / "tests/new/test_old_moved.py").is_file()
    assert not (root / "tests/test_old.py").exists()


def test_what_is_there_already_is_left_alone(validated: tuple[Path, str]) -> None:
    root, name = validated
    evidence.apply(root, name)
    before = (root / "tests/test_calc.py").stat().st_mtime_ns
    assert evidence.apply(root, name).there == [
        "tests/test_calc.py",
        "tests/new/test_old_moved.py",
        "tests/test_old.py",
    ]
    assert (root / "tests/test_calc.py").stat().st_mtime_ns == before


@pytest.mark.parametrize("path", ["tests/test_calc.py", "tests/test_old.py", "tests/new/test_old_moved.py"])
def test_a_file_that_is_not_what_it_was_staged_against_is_named_and_nothing_is_written(
    validated: tuple[Path, str], path: str
) -> None:
    root, name = validated
    write(root, {path: "# somebody's own work\n"})
    refused = refusal(root, name)
    assert (refused.reason, refused.exit_status) == ("provenance-changed", 2)
    assert path in str(refused)


def test_only_what_was_accepted_is_applied(tmp_path: Path) -> None:
    root = pytest_project(tmp_path / "shop")
    name = evidence.stage(root, patch({"tests/test_red.py": "def test_red():\n    assert False\n"}))
    assert "was not validated" in str(refusal(root, name))
    evidence.validate(root, name)
    refused = refusal(root, name)
    assert str(refused) == f"candidate-rejected: {name} was rejected: candidate-failed"
    reseal(validation_file(root, name), lambda value: value.update(outcome="accepted", reasons=[]))
    assert refusal(root, name).reason == "validation-tampered"


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", "node_modules/x.js", "pyproject.toml"])
def test_a_manifest_that_was_sealed_anew_writes_nowhere_else(tmp_path: Path, path: str) -> None:
    root = pytest_project(tmp_path / "shop")
    name = evidence.stage(root, patch())
    evidence.validate(root, name)
    folder = root / ".tddswarm/candidates" / name
    (folder / "files" / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / "files/tests/test_divide.py").rename(folder / "files" / path)
    reseal(folder / "manifest.json", lambda value: value["files"][0].update(path=path))
    manifest = canonical.loads((folder / "manifest.json").read_bytes())
    crafted = canonical.digest(manifest)[:24]
    folder.rename(folder.parent / crafted)
    reseal(
        validation_file(root, crafted),
        lambda value: value.update(candidateId=crafted, manifestHash=canonical.digest(manifest)),
    )
    with pytest.raises(Refusal):
        evidence.apply(root, crafted)
    assert not (root / path).exists()


def test_a_link_on_the_way_is_refused(validated: tuple[Path, str], tmp_path: Path) -> None:
    root, name = validated
    (tmp_path / "elsewhere").mkdir()
    (root / "tests/new").symlink_to(tmp_path / "elsewhere")
    assert refusal(root, name).reason == "path-refused"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_command_says_what_it_did(tmp_path: Path) -> None:
    root = make_project(
        tmp_path / "shop", {"calc.py": CALC, "tests/test_calc.py": PYTEST_ORIGINAL}, {"adapter": "pytest"}
    )
    name = stage_and_validate(root, patch()).id
    (root / "tests").chmod(0o555)
    locked = cannot_write(Project(root), root / "tests").testlore("apply", name)
    (root / "tests").chmod(0o755)
    assert locked.returncode == 1
    assert "files-unwritable: tests/test_divide.py: Permission denied; nothing was written" in locked.stderr
    project = Project(root)
    assert project.testlore("apply", name).stdout == "wrote tests/test_divide.py\n"
    assert project.testlore("apply", name).stdout == "tests/test_divide.py is there already\n"
    assert (root / "tests/test_divide.py").read_text("utf-8") == PYTEST_CANDIDATE


def test_a_verdict_that_came_from_another_machine_is_not_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = pytest_project(tmp_path / "shop")
    ended = stage_and_validate(root, patch())
    monkeypatch.setenv("TESTLORE_TRUST", "0")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    with pytest.raises(Refusal, match="validation-stale: it was not made on this machine"):
        evidence.apply(root, ended.id)
    monkeypatch.setenv("TESTLORE_TRUST", "1")
    assert evidence.apply(root, ended.id).written == ["tests/test_divide.py"]


def test_a_test_that_git_tracks_in_a_folder_called_coverage_is_applied(tmp_path: Path) -> None:
    root = pytest_project(tmp_path / "shop", **{"coverage/test_old.py": "def test_old():\n    assert True\n"})
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    ended = stage_and_validate(
        root, patch({"coverage/test_old.py": PYTEST_CANDIDATE + "\n\ndef test_old():\n    assert True\n"})
    )
    assert evidence.apply(root, ended.id).written == ["coverage/test_old.py"]
