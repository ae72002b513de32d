"""The real ``@ruvector/core`` for the tests, a stand-in that a fault can change, and a project that uses either."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from helpers import Project, golden
from testlore.engines import node


class NodeProject(Project):
    """A project whose engine is RuVector under Node."""

    @property
    def database(self) -> Path:
        return self.cache / node.DATABASE

    @property
    def metadata(self) -> Path:
        return self.cache / node.METADATA

    @property
    def modules(self) -> Path:
        return self.root / "node_modules"

    def configure(self, plugin: dict[str, Any] | None = None, **others: Any) -> None:
        super().configure({"runtime": "node", **(plugin or {})}, **others)


def node_project(root: Path, modules: Path | None = None, store: str = "till") -> NodeProject:
    """A fresh copy of a golden project, its ``node_modules`` linked to ``modules``."""
    golden(store, root)
    project = NodeProject(root)
    project.configure()
    if modules is not None:
        project.modules.symlink_to(modules)
    return project


def copy_of(project: NodeProject, root: Path) -> NodeProject:
    """The project elsewhere; a linked ``node_modules`` stays a link."""
    return NodeProject(Path(shutil.copytree(project.root, root, symlinks=True)), project.env, project.before)


@lru_cache(maxsize=1)
def installed() -> Path:
    """The ``node_modules`` of the pinned SDK, installed once by npm, and readable by everybody."""
    folder = Path(tempfile.mkdtemp(prefix="testlore-sdk-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    (folder / "package.json").write_text("{}")
    command = [*node.install_argv(), "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(command, cwd=folder, check=True, timeout=120)
    return folder / "node_modules"


class NodeSdk:
    """A stand-in for the SDK: the real one behind a module that a fault can change.

    Args:
        folder: where to make its ``node_modules``.
    """

    def __init__(self, folder: Path) -> None:
        self.modules = folder / "node_modules"
        shutil.copytree(installed(), self.modules, copy_function=os.link)
        package = self.modules / "@ruvector/core"
        (package / "index.js").rename(package / "original.js")
        (package / "index.js").write_text(_STAND_IN)
        self._fault = package / "fault.js"

    def break_with(self, code: str) -> None:
        """Let this code run when the engine is loaded; it changes no digest, and so no key."""
        self._fault.write_text(code)

    def mend(self) -> None:
        self._fault.unlink()


_STAND_IN = """
"use strict";
const fs = require("node:fs");
let sdk = { ...require("./original.js") };
const Native = sdk.VectorDb;
class VectorDb {
  constructor(options) { this.db = new Native(options); }
  insertBatch(rows) { return this.db.insertBatch(rows); }
  len() { return this.db.len(); }
  search(query) { return this.db.search(query); }
}
sdk.VectorDb = VectorDb;
const fault = require("node:path").join(__dirname, "fault.js");
if (fs.existsSync(fault)) eval(fs.readFileSync(fault, "utf8"));
module.exports = sdk;
"""
