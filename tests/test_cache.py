"""The derived cache shares its folder with another tool, and with what killed runs left behind."""

from __future__ import annotations

import os

from helpers import (
    Project,
    states,
)


def test_theirs_are_never_touched(project: Project) -> None:
    project.cache.mkdir()
    for name in ("vectors.db", "metadata.json"):
        (project.cache / name).write_bytes(b"theirs")
    before = states(project.cache)
    assert project.ask_natively() == "built"
    assert project.ask_natively("doit") == "reused"
    after = states(project.cache)
    assert {name: after[name] for name in before} == before


def test_what_killed_runs_left_behind_is_swept_away_in_time(built: Project) -> None:
    old, young = (built.cache / f"vectors.rvf.{name}.testlore-tmp" for name in ("1-old", "2-young"))
    for folder in (old, young):
        folder.mkdir()
        (folder / "vectors.rvf").write_bytes(b"half")
    os.utime(old, (0, 0))
    built.change_one_episode()
    assert built.ask_natively() == "built"
    assert not old.exists()
    assert young.exists()
