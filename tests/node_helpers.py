"""The real ``@ruvector/core`` for the tests, and a project that uses it."""

from __future__ import annotations

import subprocess
from pathlib import Path

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
