"""What stands where the cache should be is neither used, written through nor removed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import DOORS, Project, falls_back, states, word


def _link_to_folder(path: Path) -> None:
    path.parent.with_name("elsewhere").mkdir()
    path.symlink_to("../elsewhere")


def _link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def _dangling_link(path: Path) -> None:
    path.symlink_to("../nowhere")


def _file(path: Path) -> None:
    path.write_text("mine")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("make", [_link_to_folder, _link_to_itself, _dangling_link, _file, _pipe])
def test_a_cache_path_that_is_no_folder_is_left_alone(
    project: Project, lexical_ids: list[str], make: Callable[[Path], None]
) -> None:
    make(project.cache)
    before = states(project.root / ".tddswarm")
    falls_back(project, "ruvector-cache-unsafe", lexical_ids)
    for argv in ([], ["clean"]):
        done = project.doit(*argv)
        assert done.returncode == 1
        assert "ruvector-cache-unsafe" in done.stderr
        assert "Traceback" not in done.stderr
    assert states(project.root / ".tddswarm") == before
    assert not (project.cache.parents[1] / "nowhere").exists()
    project.cache.unlink()
    assert project.ask_natively() == "built"


@pytest.mark.parametrize("name", ["testlore.lock", "embeddings.f32", "doit.sqlite3", "validated.json"])
def test_nothing_is_written_through_a_link(project: Project, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    project.cache.mkdir()
    (project.cache / name).symlink_to(elsewhere)
    for door in DOORS:
        answer = project.ask(door)
        expected = "" if name in ("doit.sqlite3", "validated.json") else "ruvector-cache-unsafe"
        assert word(answer) == expected
    assert elsewhere.read_text() == "mine"
    assert (project.cache / name).is_symlink()
    assert project.doit("clean").returncode == 0
    assert elsewhere.read_text() == "mine"
    assert project.ask_natively() == "built"
