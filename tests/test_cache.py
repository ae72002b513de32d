"""The derived cache shares its folder with another tool, and with what killed runs left behind."""

from __future__ import annotations

import fcntl
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


def test_what_killed_runs_left_behind_is_swept_away_whatever_its_age(built: Project) -> None:
    old, young, held = (built.cache / f"vectors.rvf.{name}.testlore-tmp" for name in ("1-old", "2-young", "3-held"))
    for folder in (old, young, held):
        folder.mkdir()
        (folder / "vectors.rvf").write_bytes(b"half")
        os.utime(folder, None if folder == young else (0, 0))
    lock = os.open(held, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)  # as its writer holds it
    built.change_one_episode()
    assert built.ask_natively() == "built"
    assert [folder.exists() for folder in (old, young, held)] == [False, False, True]
    os.close(lock)
    built.metadata.unlink()
    assert built.ask_natively() == "built"
    assert not held.exists()
