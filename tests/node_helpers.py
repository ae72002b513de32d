"""What npm installs for the tests: the real ``@ruvector/core``, and test frameworks. And a project with the former."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from helpers import Project, golden
from testlore.engines import node


def node_project(root: Path, modules: Path | None = None, store: str = "till") -> Project:
    """A fresh copy of a golden project, its ``node_modules`` linked to ``modules``."""
    golden(store, root)
    project = Project(root, runtime="node")
    project.configure()
    if modules is not None:
        (root / "node_modules").symlink_to(modules)
    return project


def install(folder: Path) -> None:
    """Let npm install the pinned SDK into the ``node_modules`` of a folder."""
    folder.chmod(0o755)  # tests without rights read it too
    (folder / "package.json").write_text("{}")
    command = [*node.install_argv(), "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(command, cwd=folder, check=True, timeout=120)


def install_frameworks(folder: Path) -> None:
    """Let npm install vitest and jest into the ``node_modules`` of a folder."""
    (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
    npm = shutil.which("npm")
    wanted = ["vitest@3", "jest@30", "jest-junit@17"]
    done = npm and subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", *wanted], cwd=folder, capture_output=True, text=True
    )
    if not done or done.returncode:
        pytest.skip(f"npm cannot install here: {done.stderr[-300:] if done else 'there is none'}")
