"""What is in the wheel that users install."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from helpers import REPOSITORY

#: Files that no import leads to, and without which something fails only when it is used.
DATA = {
    "engines/node_worker.cjs",
    "engines/wheel_worker.py",
    "evidence/isolation/sitecustomize.py",
    "evidence/isolation/testlore_without_coverage.py",
    "frameworks/runners/jest_properties.cjs",
    "frameworks/runners/unittest_junit.py",
    "frameworks/runners/vitest_junit.mjs",
    "py.typed",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The names of all files in a wheel of this checkout; the build needs no network."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [path] = folder.glob("*.whl")
    with zipfile.ZipFile(path) as file:
        return file.namelist()


def test_the_wheel_installs_one_package_and_nothing_beside_it(wheel: list[str]) -> None:
    tops = {name.split("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"testlore"}
    assert len(tops) == 2


def test_the_wheel_holds_every_module_and_what_only_child_processes_open(wheel: list[str]) -> None:
    package = REPOSITORY / "pipeline/testlore"
    modules = {path.relative_to(package).as_posix() for path in package.rglob("*.py")}
    assert {f"testlore/{name}" for name in modules | DATA} <= set(wheel)


def test_the_wheel_holds_every_schema(wheel: list[str]) -> None:
    kept = {name for name in wheel if name.startswith("testlore/schemas/")}
    assert kept == {f"testlore/schemas/{path.name}" for path in Path(REPOSITORY, "schemas").iterdir()}


def test_the_wheel_holds_no_litter(wheel: list[str]) -> None:
    code = (".py", ".cjs", ".mjs", ".json", "/py.typed")
    endings = (*code, "/METADATA", "/WHEEL", "/RECORD", "/LICENSE", "/entry_points.txt")
    assert [name for name in wheel if not name.endswith(endings)] == []
