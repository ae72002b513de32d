"""``testlore clean``: the derived cache goes, and nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path

from helpers import Project, content, without_powers


def others(project: Project) -> dict[Path, bytes | str | None]:
    """Every file outside of the cache."""
    return {path: content(path) for path in project.root.rglob("*") if project.cache not in [path, *path.parents]}


def test_it_removes_the_cache_names_what_it_removed_and_recall_makes_it_anew(built: Project) -> None:
    before = others(built)
    done = built.testlore("clean")
    assert done.returncode == 0
    assert "removed .tddswarm/learning/ruvector/vectors.rvf\n" in done.stdout
    assert done.stderr == ""
    assert not built.cache.exists()
    assert others(built) == before
    assert built.testlore("clean").stdout == "There is no derived cache.\n"
    assert built.ask_natively() == "built"


def test_a_dry_run_only_names_what_would_go(built: Project) -> None:
    before = sorted(built.cache.iterdir())
    done = built.testlore("clean", "--dry-run")
    assert {line.rpartition("/")[2] for line in done.stdout.splitlines()} == {path.name for path in before}
    assert all(line.startswith("would remove ") for line in done.stdout.splitlines())
    assert sorted(built.cache.iterdir()) == before
    names = json.loads(built.testlore("clean", "--dry-run", "--json").stdout)
    assert names == {"removed": [path.name for path in before], "dryRun": True}


def test_what_is_not_ours_stays(built: Project) -> None:
    theirs = built.cache / "theirs.txt"
    theirs.write_text("theirs")
    assert built.testlore("clean").returncode == 0
    assert list(built.cache.iterdir()) == [theirs]


def test_a_cache_that_is_a_link_is_left_alone(built: Project, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    os.rename(built.cache, elsewhere)
    built.cache.symlink_to(elsewhere)
    before = sorted(elsewhere.iterdir())
    done = built.testlore("clean")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("testlore: not cleaned: ruvector-cache-unsafe: ")
    assert json.loads(built.testlore("clean", "--json").stdout)["reason"].startswith("ruvector-cache-unsafe")
    assert sorted(elsewhere.iterdir()) == before


def test_a_cache_that_may_not_be_changed_is_told(built: Project) -> None:
    built.cache.chmod(0o555)
    try:
        done = built.confined(without_powers).testlore("clean")
    finally:
        built.cache.chmod(0o755)
    assert done.returncode == 1
    what, way_out = done.stderr.splitlines()
    assert what == "testlore: not cleaned: ruvector-cache-unwritable: Permission denied"
    assert way_out == "Make .tddswarm/learning/ruvector writable, and free some disk space."
    assert built.database.exists()


def test_a_root_that_is_no_folder_is_refused(project: Project) -> None:
    done = project.testlore("clean", "--root", "/no/such/folder")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "testlore: call-invalid: root is '/no/such/folder'; allowed: an existing folder\n"
