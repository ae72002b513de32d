"""A disk that is full, or takes no long file, costs no answer."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import DOORS, Project, ids, states, with_files_up_to, word


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("size", [0, 1_000, 5_000, 68_000])
def test_a_disk_that_takes_no_long_file_costs_no_answer(
    project: Project, lexical_ids: list[str], size: int, door: str
) -> None:
    bound = project.confined(with_files_up_to(size))
    assert bound.python("-c", f"file = open('probe', 'wb'); file.write(bytes({size + 1})); file.close()").returncode
    (project.root / "probe").unlink()
    for _ in range(2):
        answer = bound.ask(door)
        assert word(answer) == "ruvector-cache-unwritable"
        assert ids(answer) == lexical_ids
    assert not set(states(project.cache)) & {"vectors.rvf", "vectors.json"}
    assert not list(project.cache.glob("*.testlore-tmp"))
    assert project.ask_natively(door) == "built"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path | None]:
    """A disk of 256 KiB, or nothing where none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], capture_output=True)
    try:
        yield folder if mounted.returncode == 0 else None
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("free_pages", [0, 2, 10, 20])
def test_a_full_disk_costs_no_answer_and_is_used_once_there_is_room(
    project: Project, lexical_ids: list[str], small_disk: Path | None, free_pages: int
) -> None:
    if small_disk is None:  # the next best thing to a full disk: one that takes no long files
        full = project.confined(with_files_up_to(free_pages * 3_000))
    else:
        full = project.moved(small_disk / "till")
        filler = full.root / "node_modules"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        with filler.open("r+b") as file:
            file.truncate(max(0, filler.stat().st_size - free_pages * 4096))
    for door in ("doit", "testlore", "doit"):
        answer = full.ask(door)
        assert word(answer) in ("", "ruvector-cache-unwritable")
        assert word(answer) or answer["retrieval"] == "ruvector"
        assert not word(answer) or ids(answer) == lexical_ids
        assert word(answer) or free_pages > 16
    assert not list(full.cache.glob("*.testlore-tmp"))
    if small_disk is not None:
        filler.unlink()
        assert full.ask_natively() in ("built", "reused")
        assert full.ask_natively("doit") == "reused"
