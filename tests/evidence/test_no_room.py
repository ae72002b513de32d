"""A full disk while a candidate is validated: one clear refusal, nothing remembered, nothing left."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from evidence_helpers import (
    CALC,
    PYTEST_CANDIDATE,
    PYTEST_ORIGINAL,
    defect,
    make_project,
    patch,
    validation_file,
)
from helpers import Project, with_files_up_to, without_powers
from testlore import evidence
from testlore.memory import store

#: A test that writes until there is no room, and goes on as it is told.
FILL = """
import os, tempfile
def fill():
    with open(os.path.join(tempfile.gettempdir(), "filling"), "wb", buffering=0) as file:
        size = 1 << 16
        while size:
            try: file.write(bytes(size))
            except OSError: size //= 2
"""
FAILING = f"{FILL}\ndef test_fills():\n    fill()\n    open('more', 'wb').write(bytes(1 << 20))\n"
TIDY = """
import tempfile
def test_fills():
    with tempfile.TemporaryFile() as file:
        while True:
            file.write(bytes(1 << 16))
            file.flush()
"""
PASSING = f"{FILL}\ndef test_fills():\n    fill()\n"
#: With the defect, it fails for want of room alone.
WITH_DEFECT = f"""{FILL}
from calc import clamp
def test_clamp():
    if clamp(-1) != 0:
        fill()
        open('more', 'wb').write(bytes(1 << 20))
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Mounts a small disk, which only root may."""
    mounted: list[Path] = []

    def mount(options: str) -> Path:
        place = tmp_path / f"disk{len(mounted)}"
        place.mkdir()
        argv = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        if os.geteuid() or subprocess.run(argv, capture_output=True, check=False).returncode:
            pytest.skip("no disk can be mounted here")
        mounted.append(place)
        return place

    yield mount
    for place in mounted:
        subprocess.run(["umount", "-l", str(place)], check=True)


def shop(root: Path, **files: str) -> Path:
    return make_project(root, {"calc.py": CALC, "tests/test_calc.py": PYTEST_ORIGINAL, **files}, {"adapter": "pytest"})


def refused(root: Path, name: str, temporary: Path, before: Callable[[], None] | None = None) -> str:
    """Validate a candidate with too little room; why that was refused."""
    old = sorted(os.listdir(temporary))
    env = {"TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}  # Python would keep half of a module's code
    project = Project(root, env, before)
    done = project.testlore("validate", name, "--json")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    reason: str = json.loads(done.stdout)["reason"]
    word, _, detail = reason.partition(": ")
    assert word == "no-room", reason
    assert not (root / store.INDEX_FILE).exists()
    assert not list(validation_file(root, name).parent.glob("validation*"))
    assert sorted(os.listdir(temporary)) == old
    return detail


def test_sources_that_do_not_fit(tmp_path: Path, disk: Callable[..., Path]) -> None:
    root = shop(tmp_path / "shop", **{"a.bin": "a" * 700_000, "b.bin": "b" * 700_000})
    place = disk("size=1m")
    detail = refused(root, evidence.stage(root, patch()), place)
    total = sum(len(path.read_bytes()) for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    total -= sum(path.stat().st_size for path in root.glob(".tddswarm/**/*") if path.is_file())
    assert detail == f"{place} is full: 700000 of the sources' {total} bytes were copied"


def test_more_files_than_there_may_be(tmp_path: Path, disk: Callable[..., Path]) -> None:
    root = shop(tmp_path / "shop", **{f"data/{number}": "" for number in range(50)})
    assert "bytes were copied" in refused(root, evidence.stage(root, patch()), disk("size=8m,nr_inodes=30"))


def test_a_disk_without_any_room(tmp_path: Path, disk: Callable[..., Path]) -> None:
    place = disk("size=8m,nr_inodes=2")
    (place / "last").touch()
    root = shop(tmp_path / "shop")
    detail = refused(root, evidence.stage(root, patch()), place)
    assert detail.startswith(f"{place} is full: a copy of the sources has ")


@pytest.mark.parametrize("test", [FAILING, TIDY, PASSING], ids=["failing", "failing and tidy", "passing"])
@pytest.mark.parametrize("whose", ["original", "candidate"])
def test_a_suite_that_fills_the_disk(tmp_path: Path, disk: Callable[..., Path], test: str, whose: str) -> None:
    root = shop(tmp_path / "shop", **({"tests/test_fill.py": test} if whose == "original" else {}))
    proposed = {"tests/test_new.py": PYTEST_CANDIDATE if whose == "original" else test}
    place = disk("size=8m")
    detail = refused(root, evidence.stage(root, patch(proposed)), place)
    assert detail.startswith(f"{place} is full: beside a copy of ")
    assert "bytes, a run needs more than the " in detail


def test_a_run_that_fails_for_want_of_room_has_not_seen_the_defect(tmp_path: Path, disk: Callable[..., Path]) -> None:
    root = shop(tmp_path / "shop", **{"tests/test_calc.py": WITH_DEFECT})
    refused(root, evidence.stage(root, patch(heldOutDefects=[defect()])), disk("size=8m"))


def test_a_verdict_that_cannot_be_written(tmp_path: Path, disk: Callable[..., Path]) -> None:
    root = shop(disk("size=1m") / "shop")
    name = evidence.stage(root, patch())
    with open(root / ".git/filling", "wb", buffering=0) as file:
        size = 1 << 16
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    detail = refused(root, name, temporary)
    assert detail.startswith(f".tddswarm/candidates is full: validation.json of {name} has ")


@pytest.mark.parametrize("size", [0, 100, 400, 1_000, 3_000])
def test_files_that_may_not_grow(tmp_path: Path, size: int) -> None:
    root = shop(tmp_path / "shop", **{"data.bin": "x" * 2_000})
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    refused(root, evidence.stage(root, patch()), temporary, with_files_up_to(size))


def test_a_folder_for_temporary_files_that_takes_none_is_not_used(tmp_path: Path) -> None:
    root = shop(tmp_path / "shop")
    temporary = tmp_path / "temporary"
    temporary.mkdir(0o500)
    project = Project(root, {"TMPDIR": str(temporary), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, without_powers)
    done = project.testlore("validate", evidence.stage(root, patch()))
    assert done.returncode == 0, done.stderr
    assert os.listdir(temporary) == []
