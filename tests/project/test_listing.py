"""Which files are sources: git says it, whatever a folder is called; and where git refuses, nobody does."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from testlore.cache import Cache
from testlore.errors import Refusal
from testlore.project import listing, snapshot

IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always")
#: A user id that owns nothing here.
STRANGER = 12345


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *IDENTITY, *arguments], cwd=root, check=True, capture_output=True)


def write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


def repository(root: Path, *paths: str) -> Path:
    """A repository in which these files are committed."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q")
    write(root, *paths)
    git(root, "add", "-Af")
    git(root, "commit", "-qm", "all")
    return root


def sources(root: Path) -> list[str]:
    """The listed files. A snapshot has the same ones, made anew or remembered."""
    found = listing.paths(str(root))
    cache = Cache(str(root))
    for keeper in (None, cache, cache):
        assert list(snapshot.Scan(str(root), (), keeper).snapshot().files()) == found
    return found


@pytest.fixture(autouse=True)
def _of_all_projects_git_compares_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of large ones. Without a keeper each scan is whole, as of small ones."""
    monkeypatch.setattr(snapshot, "_SMALL", 0)
    monkeypatch.setattr(snapshot, "_LARGE", 0)


@pytest.mark.parametrize("folder", ["build", "dist", "coverage", "venv", "src/build", "node_modules/m"])
def test_a_tracked_file_is_a_source_whatever_its_folder_is_called(tmp_path: Path, folder: str) -> None:
    repository(tmp_path, "a.py", f"{folder}/names.txt")
    write(tmp_path, f"{folder}/made.txt", f"{folder}/deep/made.txt")
    assert sources(tmp_path) == ["a.py", f"{folder}/names.txt"]


def test_the_memory_is_no_source_even_if_git_tracks_it(tmp_path: Path) -> None:
    repository(tmp_path, "a.py", ".tddswarm/learning/index.json", "inner/.tddswarm/x", ".doit.db")
    assert sources(tmp_path) == ["a.py"]


@pytest.mark.parametrize("mark", ["tracked", "ignored", "untracked"])
def test_a_virtual_environment_is_no_source_but_for_what_git_tracks(tmp_path: Path, mark: str) -> None:
    repository(tmp_path, "a.py", "tools/env/kept.py", *(["tools/env/pyvenv.cfg"] if mark == "tracked" else []))
    write(tmp_path, "tools/env/pyvenv.cfg", "tools/env/lib/x.py", "tools/b.py")
    if mark == "ignored":
        (tmp_path / ".git/info/exclude").write_text("*.cfg\n")
    expected = ["a.py", "tools/b.py", "tools/env/kept.py", *(["tools/env/pyvenv.cfg"] if mark == "tracked" else [])]
    assert sources(tmp_path) == expected


def test_without_a_repository_a_virtual_environment_is_left_out_too(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "env/pyvenv.cfg", "env/lib/x.py")
    assert sources(tmp_path) == ["a.py"]


@pytest.mark.parametrize("in_git", [False, True])
def test_a_project_that_is_an_environment_itself_keeps_its_sources(tmp_path: Path, in_git: bool) -> None:
    write(tmp_path, "a.py", "pyvenv.cfg")
    if in_git:
        git(tmp_path, "init", "-q")
    assert sources(tmp_path) == ["a.py", "pyvenv.cfg"]


def with_submodule(root: Path, *paths: str) -> Path:
    """A repository with a submodule ``ext`` in which these files are committed."""
    repository(root.with_name("library"), *paths)
    repository(root, "a.py")
    git(root, "submodule", "add", "-q", str(root.with_name("library")), "ext")
    git(root, "commit", "-qm", "submodule")
    return root


def test_the_files_of_a_submodule_are_sources(tmp_path: Path) -> None:
    root = with_submodule(tmp_path / "shop", "vendored.py", "build/names.txt", ".gitignore")
    (root / "ext/.gitignore").write_text("secret\n")
    write(root, "ext/new.py", "ext/secret", "ext/dist/made.js")
    inside = ["ext/.gitignore", "ext/build/names.txt", "ext/new.py", "ext/vendored.py"]
    assert sources(root) == [".gitmodules", "a.py", *inside]


def test_a_change_in_a_submodule_is_noticed(tmp_path: Path) -> None:
    root = with_submodule(tmp_path / "shop", "vendored.py")
    before = snapshot.Scan(str(root), (), Cache(str(root))).snapshot()
    write(root / "ext", "vendored.py")
    assert snapshot.Scan(str(root), (), Cache(str(root))).snapshot().digest == before.digest
    (root / "ext/vendored.py").write_text("changed")
    assert snapshot.Scan(str(root), (), Cache(str(root))).snapshot().digest != before.digest
    git(root / "ext", "checkout", "-q", "vendored.py")
    write(root, "ext/new.py")
    assert snapshot.Scan(str(root), (), Cache(str(root))).snapshot().files()["ext/new.py"]


def test_the_files_of_a_submodule_in_a_submodule_are_sources(tmp_path: Path) -> None:
    repository(tmp_path / "deep", "d.py")
    root = with_submodule(tmp_path / "shop", "vendored.py")
    git(root / "ext", "submodule", "add", "-q", str(tmp_path / "deep"), "deep")
    assert sources(root) == [".gitmodules", "a.py", "ext/.gitmodules", "ext/deep/d.py", "ext/vendored.py"]


def test_a_repository_that_was_added_without_a_word_in_gitmodules_is_walked_like_a_submodule(tmp_path: Path) -> None:
    repository(tmp_path, "a.py")
    repository(tmp_path / "ext", "vendored.py")
    git(tmp_path, "add", "-A")
    assert sources(tmp_path) == ["a.py", "ext/vendored.py"]


def test_a_submodule_that_is_not_checked_out_has_what_lies_there(tmp_path: Path) -> None:
    root = with_submodule(tmp_path / "shop", "vendored.py")
    shutil.rmtree(root / "ext")
    (root / "ext").mkdir()
    assert sources(root) == [".gitmodules", "a.py"]
    write(root, "ext/unpacked.py")
    assert sources(root) == [".gitmodules", "a.py", "ext/unpacked.py"]


def test_a_link_in_the_place_of_a_submodule_is_not_followed(tmp_path: Path) -> None:
    root = with_submodule(tmp_path / "shop", "vendored.py")
    shutil.rmtree(root / "ext")
    (root / "ext").symlink_to(tmp_path / "library")
    assert sources(root) == [".gitmodules", "a.py"]


def test_a_worktree_in_the_project_that_nobody_added_is_no_source(tmp_path: Path) -> None:
    repository(tmp_path, "a.py")
    git(tmp_path, "worktree", "add", "-q", "trees/other")
    assert sources(tmp_path) == ["a.py"]


def belongs_to_a_stranger(root: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    if os.geteuid():
        pytest.skip("only root gives files away")
    for path in [root, *root.rglob("*")]:
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
    return "dubious ownership"


def has_no_git(root: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PATH", str(root))
    return "git cannot be started: No such file or directory"


def lost_its_head(root: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (root / ".git/HEAD").unlink()
    return "not a git repository"


def has_a_bad_index(root: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (root / ".git/index").write_bytes(b"bad")
    return "index file smaller than expected"


def is_a_worktree_without_its_repository(root: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    shutil.rmtree(root / ".git")
    (root / ".git").write_text(f"gitdir: {root}/gone/.git/worktrees/shop\n")
    return "not a git repository"


def git_is_too_slow(root: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (root / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (root / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{root}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("testlore.project.git._SECONDS", 0.5)
    return "git took over 0.5 seconds"


REFUSING = [
    *(belongs_to_a_stranger, has_no_git, lost_its_head, has_a_bad_index),
    *(is_a_worktree_without_its_repository, git_is_too_slow),
]


@pytest.mark.parametrize("spoil", REFUSING)
@pytest.mark.parametrize("below", ["", "inner"])
def test_a_repository_about_which_git_says_nothing_is_not_taken_for_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path, pytest.MonkeyPatch], str], below: str
) -> None:
    root = repository(tmp_path / "shop", "a.py", "inner/b.py")
    (root / ".git/info/exclude").write_text(".env\n")
    write(root, ".env", "inner/.env")
    snapshot.Scan(str(root / below), (), Cache(str(root / below))).snapshot()
    said = spoil(root, monkeypatch)
    for ask in (
        lambda: listing.paths(str(root / below)),
        lambda: snapshot.Scan(str(root / below), ()).snapshot(),
        lambda: snapshot.Scan(str(root / below), (), Cache(str(root / below))).snapshot(),
    ):
        with pytest.raises(Refusal) as refused:
            ask()
        assert (refused.value.reason, refused.value.exit_status) == ("sources-unknown", 2)
        assert refused.value.detail.startswith(f"{root}/.git is there, but git said: ")
        assert said in refused.value.detail
        assert "\n" not in refused.value.detail


def test_a_submodule_about_which_git_says_nothing_makes_the_sources_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = with_submodule(tmp_path / "shop", "vendored.py")
    snapshot.Scan(str(root), (), Cache(str(root))).snapshot()
    (root / ".git/modules/ext/HEAD").unlink()
    for keeper in (None, Cache(str(root))):
        with pytest.raises(Refusal, match=r"sources-unknown: .*ext/\.git is there, but git said: "):
            snapshot.Scan(str(root), (), keeper).snapshot()


def test_where_there_is_no_repository_git_may_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.py", "inner/b.py")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert sources(tmp_path) == ["a.py", "inner/b.py"]


def test_an_empty_folder_called_git_is_no_repository(tmp_path: Path) -> None:
    write(tmp_path, "inner/a.py")
    (tmp_path / ".git").mkdir()
    assert sources(tmp_path / "inner") == ["a.py"]


@pytest.mark.parametrize(("least", "processes"), [(0, 4), (2_000, 1)])
def test_a_plain_repository_costs_no_git_process_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, least: int, processes: int
) -> None:
    monkeypatch.setattr(snapshot, "_LARGE", least)
    root = repository(tmp_path / "shop", "a.py", "build/names.txt")
    real = shutil.which("git")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/asked\nexec {real} "$@"\n')
    (tmp_path / "bin/git").chmod(0o755)
    time.sleep(0.05)
    monkeypatch.setattr(snapshot, "_RACY_NS", 20_000_000)
    snapshot.Scan(str(root), (), Cache(str(root))).snapshot()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    snapshot.Scan(str(root), (), Cache(str(root))).snapshot()
    assert len((tmp_path / "asked").read_text().splitlines()) == processes


@pytest.mark.parametrize(
    ("path", "content"), [(".gitignore", "new.py\n"), (".git/info/exclude", "new.py\n"), ("env/pyvenv.cfg", "")]
)
def test_a_file_that_is_left_out_from_now_on_is_no_source_though_it_is_still_there(
    tmp_path: Path, path: str, content: str
) -> None:
    root = repository(tmp_path, "a.py", ".gitignore")
    write(root, "env/new.py")
    assert "env/new.py" in sources(root)
    (root / path).write_text(content)
    assert "env/new.py" not in sources(root)
