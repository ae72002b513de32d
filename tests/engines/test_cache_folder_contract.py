"""A cache folder without rights, or behind a link, is treated alike by every engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import DOORS, INDEX_FILES, Project, cannot_write, falls_back, states


@pytest.mark.parametrize("where", ["ruvector", "learning"])
def test_a_folder_that_takes_no_files_is_named_and_used_once_it_does(
    project_of_engine: Project, lexical_ids: list[str], where: str
) -> None:
    project = project_of_engine
    folder = project.cache if where == "ruvector" else project.cache.parent
    folder.mkdir(exist_ok=True)
    folder.chmod(0o555)
    bound = cannot_write(project, folder)
    falls_back(bound, "ruvector-cache-unwritable", lexical_ids)
    assert not project.cache.exists() or not list(project.cache.iterdir())
    plain = bound.doit()
    assert plain.returncode == 1
    assert "ruvector-cache-unwritable" in plain.stderr
    folder.chmod(0o755)
    assert bound.ask_natively("doit") == "built"


@pytest.mark.parametrize("door", DOORS)
def test_a_folder_that_takes_no_files_but_has_the_index_is_answered_from(
    built_by_engine: Project, tmp_path: Path, door: str
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    built = built_by_engine.with_env(TMPDIR=str(temporary))
    before = states(built.cache)
    built.cache.chmod(0o555)
    for path in built.cache.iterdir():
        path.chmod(0o444)
    bound = cannot_write(built, built.cache)
    assert bound.ask_natively(door) == "reused"
    assert bound.doit().returncode == 0
    assert states(built.cache) == before
    assert not list(temporary.iterdir())


def test_a_cache_that_was_moved_behind_a_link_is_neither_used_nor_cleaned(
    built_by_engine: Project, lexical_ids: list[str], tmp_path: Path
) -> None:
    built = built_by_engine
    built.cache.rename(tmp_path / "moved")
    built.cache.symlink_to(tmp_path / "moved")
    before = states(tmp_path / "moved")
    falls_back(built, "ruvector-cache-unsafe", lexical_ids)
    assert built.doit("clean").returncode == 1
    assert states(tmp_path / "moved") == before
    built.cache.unlink()
    (tmp_path / "moved").rename(built.cache)
    assert built.ask_natively() == "reused"


@pytest.mark.parametrize("dangling", [False, True], ids=["whole", "dangling"])
@pytest.mark.parametrize("part", [0, 1], ids=["database", "metadata"])
def test_an_index_behind_a_link_is_not_used(
    built_by_engine: Project, lexical_ids: list[str], tmp_path: Path, part: int, dangling: bool
) -> None:
    built, name = built_by_engine, INDEX_FILES[built_by_engine.runtime][part]
    path, elsewhere = built.cache / name, tmp_path / name
    path.rename(elsewhere)
    path.symlink_to(tmp_path / "nowhere" if dangling else elsewhere)
    before = states(tmp_path)
    falls_back(built, "ruvector-cache-unsafe", lexical_ids)
    assert states(tmp_path) == before
    assert built.doit("clean").returncode == 0
    assert elsewhere.exists()
    assert not built.cache.exists()
