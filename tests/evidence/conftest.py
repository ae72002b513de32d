"""The fixtures that the tests of evidence share."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder for the runs of a test."""
    place = tmp_path / "runs"
    place.mkdir()
    return place


@pytest.fixture(scope="session")
def node_packages(shared_folder: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """The ``node_modules`` of vitest and jest, installed once by npm."""
    return shared_folder("packages", _install_packages) / "node_modules"


def _install_packages(folder: Path) -> None:
    (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
    npm = shutil.which("npm")
    wanted = ["vitest@4", "jest@30", "jest-junit@17"]
    done = npm and subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", *wanted], cwd=folder, capture_output=True, text=True
    )
    if not done or done.returncode:
        pytest.skip(f"npm cannot install here: {done.stderr[-300:] if done else 'there is none'}")
