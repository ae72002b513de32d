"""The stand-in for ``@ruvector/core``, and what it can do wrong."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from helpers import Project
from node_helpers import node_project
from stand_in import CORRUPT, FAILED, INVALID, NOT_LOADED, NOT_THE_API, NOTHING_FOUND, Fault, StandIn

_LOADING = {
    "does not import": Fault("throw new Error('undefined symbol')", NOT_LOADED),
    "throws nothing at import": Fault("throw null", NOT_LOADED),
    "exports nothing": Fault("sdk = null", NOT_THE_API),
    "has no database": Fault("delete sdk.VectorDb", NOT_THE_API),
    "has no search": Fault("delete VectorDb.prototype.search", NOT_THE_API),
    "exits": Fault("process.exit(3)", FAILED),
    "leaves without an answer": Fault("process.exit(0)", INVALID),
    "crashes by a signal": Fault("process.kill(process.pid, 'SIGSEGV')", FAILED),
    "aborts": Fault("process.abort()", FAILED),
    "prints a banner": Fault("console.log('RuVector!')", INVALID),
    "prints bytes that are no text": Fault("fs.writeSync(1, Buffer.from([255])); process.exit(0)", INVALID),
    "prints a list": Fault("fs.writeSync(1, '[]'); process.exit(0)", INVALID),
    "prints two objects": Fault("fs.writeSync(1, '{}')", INVALID),
    "prints too much": Fault("fs.writeSync(1, Buffer.alloc(2 << 20)); process.exit(0)", INVALID),
}

_SEARCHING = {
    "fabricates a row": Fault("found[0].id = '999'", INVALID),
    "fabricates a negative row": Fault("found[0].id = '-1'", INVALID),
    "fabricates an id": Fault("found[0].id = 'an episode'", INVALID),
    "writes a row otherwise": Fault("found[0].id = '00'", INVALID),
    "doubles a row": Fault("found[1].id = found[0].id", INVALID),
    "appends a double": Fault("found.push(found[0])", INVALID),
    "answers NaN": Fault("found[0].score = NaN", INVALID),
    "answers infinity": Fault("found[0].score = Infinity", INVALID),
    "answers a distance too far": Fault("found[0].score = 2.1", INVALID),
    "answers a negative distance": Fault("found[0].score = -0.1", INVALID),
    "answers a text": Fault("found[0].score = '0.1'", INVALID),
    "leaves out a row": Fault("found.pop()", INVALID),
    "finds nothing": Fault("found.length = 0", NOTHING_FOUND),
    "finds no list": Fault("return {}", FAILED),
    "never answers": Fault("await new Promise(() => {})", INVALID),
    "fails": Fault("throw new Error('broken')", FAILED),
    "crashes": Fault("process.kill(process.pid, 'SIGSEGV')", FAILED),
}

_BUILDING = {
    "writes no file": Fault("sdk.VectorDb = class { insertBatch() {} search() {} async len() { return 7; } }", INVALID),
    "counts wrong": Fault("VectorDb.prototype.len = async () => 6", INVALID),
    "fails to create": Fault(
        "sdk.VectorDb = class { constructor() { null.x; } insertBatch() {} len() {} search() {} }",
        FAILED,
    ),
    "crashes while it inserts": Fault("VectorDb.prototype.insertBatch = () => process.abort()", FAILED),
}

# The child must not keep the worker from ending, and shares its output.
_LEAVE_A_CHILD = """
const child = require("node:child_process").spawn("sleep", ["60"], {{ stdio: "inherit" }});
child.unref();
fs.appendFileSync({pids!r}, `${{process.pid}} ${{child.pid}} `);
"""
_HANG = """
process.on("SIGTERM", () => {});
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
"""

_SEALED = {"half": FAILED, "nothing": CORRUPT, "garbage": CORRUPT}


class NodeStandIn(StandIn):
    """A ``node_modules`` with an ``@ruvector/core`` of ours around the real one.

    Args:
        folder: where to make it.
        installed: the ``node_modules`` with the real one.
    """

    RUNTIME = "node"
    LOADING = _LOADING
    SEARCHING = _SEARCHING
    BUILDING = _BUILDING
    SEALED = _SEALED
    SHORT_MS = 1000

    def __init__(self, folder: Path, installed: Path) -> None:
        self.modules = folder / "node_modules"
        package = self.modules / "@ruvector/core"
        super().__init__(package / "fault.js")
        shutil.copytree(installed, self.modules, copy_function=os.link)
        (package / "index.js").rename(package / "original.js")
        (package / "index.js").write_text(_MODULE)

    def project(self, root: Path) -> Project:
        return node_project(root, self.modules)

    def answering(self, project: Project) -> Project:
        modules = project.root / "node_modules"
        modules.unlink()
        modules.symlink_to(self.modules)
        return project

    @staticmethod
    def in_search(code: str) -> str:
        return (
            "VectorDb.prototype.search = async function (query) {\n"
            "  const found = await this.db.search(query);\n"
            f"  {code};\n"
            "  return found;\n"
            "}"
        )

    @staticmethod
    def hanging(pids: Path, where: str) -> str:
        hang = _LEAVE_A_CHILD.format(pids=str(pids)) + _HANG
        if where == "load":
            return hang
        return f"VectorDb.prototype.{'insertBatch' if where == 'build' else 'search'} = () => {{ {hang} }}"

    @staticmethod
    def leaving_a_child(pids: Path) -> str:
        return _LEAVE_A_CHILD.format(pids=str(pids))


_MODULE = """
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
