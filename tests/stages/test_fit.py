"""An episode fits as long as the sources that its cases ran are today's, whatever else has changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from testlore import canonical
from testlore.memory import texts
from testlore.stages import fit
from testlore.stages.fit import TodaysFiles

Json = dict[str, Any]


def source(root: Path, path: str, text: str = "x = 1\n") -> Json:
    """A source that is written now, as an episode names it."""
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    return {"path": path, "digest": canonical.digest(text)}


def fits(root: Path, files: list[Json], reasons: list[str]) -> bool:
    return fit.fits({"subject": {"files": files, "symbols": []}}, reasons, TodaysFiles(str(root)))


def test_what_else_changed_does_not_matter(tmp_path: Path) -> None:
    assert fits(tmp_path, [source(tmp_path, "src/a.py"), source(tmp_path, "b.py")], ["source-drift"])


def test_a_file_that_its_cases_ran_and_that_changed_does(tmp_path: Path) -> None:
    files = [source(tmp_path, "a.py"), source(tmp_path, "b.py")]
    (tmp_path / "b.py").write_text("x = 2\n")
    assert not fits(tmp_path, files, ["source-drift"])


def make_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def make_a_link(path: Path) -> None:
    """The same content behind a link."""
    path.rename(path.with_suffix(".moved"))
    path.symlink_to(path.with_suffix(".moved"))


@pytest.mark.parametrize("spoil", [Path.unlink, make_a_folder, make_a_link])
def test_a_file_that_is_none_any_more_does(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    files = [source(tmp_path, "a.py")]
    spoil(tmp_path / "a.py")
    assert not fits(tmp_path, files, ["source-drift"])


def test_nothing_fits_where_git_does_not_say_what_the_sources_are(tmp_path: Path) -> None:
    assert not fits(tmp_path, [source(tmp_path, "a.py")], ["sources-unknown"])


def test_an_empty_file_is_a_file(tmp_path: Path) -> None:
    assert fits(tmp_path, [source(tmp_path, "__init__.py", "")], ["source-drift"])


@pytest.mark.parametrize("count", [0, texts.FILES])
def test_where_not_all_are_named_the_whole_project_decides(tmp_path: Path, count: int) -> None:
    files = [source(tmp_path, f"{number}.py") for number in range(count)]
    assert fits(tmp_path, files, [])
    assert not fits(tmp_path, files, ["source-drift"])


def test_an_episode_of_version_1_fits_while_nothing_changed(tmp_path: Path) -> None:
    assert fit.fits({}, [], TodaysFiles(str(tmp_path)))
    assert not fit.fits({}, ["source-drift"], TodaysFiles(str(tmp_path)))
