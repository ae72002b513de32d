"""What a copy holds and where it lies: tests find there what they find in place, and what they import is the copy."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from evidence_helpers import (
    CALC,
    NODE_BROKEN,
    NODE_CANDIDATE,
    NODE_ORIGINAL,
    NODE_SOURCE,
    PYTEST_CANDIDATE,
    PYTEST_ORIGINAL,
    UNITTEST_ORIGINAL,
    Json,
    defect,
    make_project,
    patch,
    pytest_project,
    stage_and_validate,
    write,
)
from testlore import evidence
from testlore.errors import Refusal
from testlore.evidence import installed
from testlore.evidence.working_copy import WorkingCopy
from testlore.project.snapshot import Scan

PYTEST: Json = {"adapter": "pytest"}
IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@t")
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *IDENTITY, *arguments], cwd=root, check=True, capture_output=True)


def accepts(root: Path, proposed: Json | None = None) -> None:
    """Stage and validate a good candidate in a project whose tests are green in place."""
    ended = stage_and_validate(root, proposed or patch(heldOutDefects=[defect()]))
    assert (ended.outcome, ended.details, ended.output) == ("accepted", [], "")


def test_a_test_reads_a_tracked_file_of_a_folder_called_build(tmp_path: Path) -> None:
    reads = PYTEST_ORIGINAL + "    assert open('build/names.txt').read() == 'tracked'\n"
    root = pytest_project(tmp_path / "shop", **{"tests/test_calc.py": reads, "build/names.txt": "tracked"})
    git(root, "add", "-A")
    accepts(root)


def test_tests_in_a_tracked_folder_called_dist_are_run_and_may_be_replaced(tmp_path: Path) -> None:
    files = {"calc.py": CALC, "dist/__init__.py": "", "dist/test_calc.py": UNITTEST_ORIGINAL}
    root = make_project(tmp_path / "shop", files, {"runner": [sys.executable, "-m", "unittest", "{files}"]})
    git(root, "add", "-A")
    more = "\n    def test_high(self):\n        self.assertEqual(clamp(99), 10)\n"
    too_high = defect(content=CALC.replace("min(10, ", "min(99, "))
    accepts(root, patch({"dist/test_calc.py": UNITTEST_ORIGINAL + more}, heldOutDefects=[too_high]))


def test_a_tracked_package_in_a_folder_called_venv_is_that_of_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_project(tmp_path / "shop", {"venv/calc.py": CALC, "tests/test_calc.py": PYTEST_ORIGINAL}, PYTEST)
    git(root, "add", "-A")
    monkeypatch.setenv("PYTHONPATH", str(root / "venv"))
    accepts(root, patch(heldOutDefects=[defect("venv/calc.py")]))


def test_a_submodule_is_copied(tmp_path: Path) -> None:
    imports = "from ext.vendored import TEN\n" + PYTEST_ORIGINAL + "    assert TEN == 10\n"
    root = pytest_project(tmp_path / "shop", **{"tests/test_calc.py": imports})
    library = make_project(root / "ext", {"vendored.py": "TEN = 10\n"})
    git(library, "add", "-A")
    git(library, "commit", "-qm", "all")
    git(root, "add", "-A")
    accepts(root)


def test_a_package_that_is_the_projects_own_folder_keeps_its_name(tmp_path: Path) -> None:
    original, candidate = (
        text.replace("from calc", "from rootpkg.calc") for text in (PYTEST_ORIGINAL, PYTEST_CANDIDATE)
    )
    files = {"__init__.py": "", "calc.py": CALC, "tests/__init__.py": "", "tests/test_calc.py": original}
    root = make_project(tmp_path / "rootpkg", files, PYTEST)
    accepts(root, patch({"tests/test_divide.py": candidate}, heldOutDefects=[defect()]))


def test_a_package_that_a_link_leads_to_has_the_name_that_python_sees(tmp_path: Path) -> None:
    original = PYTEST_ORIGINAL.replace("from calc", "from rootpkg.calc")
    files = {"__init__.py": "", "calc.py": CALC, "tests/__init__.py": "", "tests/test_calc.py": original}
    make_project(tmp_path / "rootpkg", files, PYTEST)
    (tmp_path / "link").symlink_to("rootpkg")
    candidate = PYTEST_CANDIDATE.replace("from calc", "from rootpkg.calc")
    accepts(tmp_path / "link", patch({"tests/test_divide.py": candidate}, heldOutDefects=[defect()]))


@pytest.mark.parametrize("source", ["", "src/"])
def test_the_metadata_of_a_package_is_found_though_git_ignores_it(tmp_path: Path, source: str) -> None:
    asks = (
        "import importlib.metadata, pathlib\n"
        + PYTEST_ORIGINAL
        + "    found = importlib.metadata.distribution('eggpkg')\n"
        + "    assert found.version == '1.5'\n"
        + "    place = pathlib.Path(found.locate_file('eggpkg.egg-info'))\n"
        + "    assert place.resolve().is_relative_to(pathlib.Path(__file__).resolve().parents[1])\n"
        + "    (place / 'PKG-INFO').write_text('spoiled')\n"
    )
    files = {".gitignore": "*.egg-info/\n", f"{source}calc.py": CALC, "tests/test_calc.py": asks}
    root = make_project(tmp_path / "shop", files, PYTEST)
    metadata = "Metadata-Version: 2.1\nName: eggpkg\nVersion: 1.5\n"
    write(root, {f"{source}eggpkg.egg-info/PKG-INFO": metadata})
    accepts(root, patch(heldOutDefects=[defect(f"{source}calc.py")]))
    assert (root / f"{source}eggpkg.egg-info/PKG-INFO").read_text() == metadata


def test_metadata_is_looked_for_where_a_search_path_may_lead(tmp_path: Path) -> None:
    folders = ("a.egg-info", "src/b.egg-info", "libs/one/c.dist-info", "data/deep/not.egg-info")
    write(tmp_path, {f"{folder}/PKG-INFO": "" for folder in folders})
    found = installed.metadata(str(tmp_path), ["src/pkg/x.py", "libs/one/y.py", "conftest.py", "data/deep/z.txt"])
    assert found == ["a.egg-info", "libs/one/c.dist-info", "src/b.egg-info"]


def test_a_virtual_environment_that_nobody_ignores_is_not_copied(tmp_path: Path) -> None:
    root = pytest_project(tmp_path / "shop", **{"env/pyvenv.cfg": "", "env/lib/test_foreign.py": "assert False\n"})
    (tmp_path / "runs").mkdir()
    copy = WorkingCopy(str(root), str(tmp_path / "runs"), Scan(str(root), ()).snapshot().files())
    assert not (Path(copy.prepare("first", {}, [])) / "env").exists()
    accepts(root)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace whose packages share the ``node_modules`` at the top, and the one of its packages that is tested."""
    top = make_project(
        tmp_path / "workspace",
        {
            ".gitignore": "node_modules/\n",
            "package.json": json.dumps({"private": True, "workspaces": ["packages/*"]}),
            "packages/b/package.json": '{"name": "b", "type": "module", "main": "index.js"}',
            "packages/b/index.js": "export const b = 'b';\n",
            "packages/a/package.json": '{"name": "@w/a", "type": "module", "exports": "./src/calc.js"}',
            "packages/a/src/calc.js": NODE_SOURCE,
            "packages/a/test/calc.test.js": "import {ten} from 'ten';\nimport {near} from 'near';\n"
            + "import {b} from 'b';\nimport {clamp as own} from '@w/a';\n"
            + NODE_ORIGINAL
            + "test('all', () => assert.deepEqual([ten, near, b, own(-1)], [10, 'near', 'b', 0]));\n",
            "packages/a/tddswarm.config.json": '{"adapter": "node"}',
            "packages/a/node_modules/near/index.js": "export const near = 'near';\n",
            "packages/a/node_modules/near/package.json": '{"type": "module"}',
            "node_modules/near/index.js": "export const near = 'far';\n",
            "node_modules/near/package.json": '{"type": "module"}',
            "node_modules/ten/index.js": "export const ten = 10;\n",
            "node_modules/ten/package.json": '{"type": "module"}',
        },
    )
    (top / "node_modules/@w").mkdir()
    (top / "node_modules/@w/a").symlink_to("../../packages/a")
    (top / "node_modules/b").symlink_to("../packages/b")
    return top / "packages/a"


@needs_node
def test_packages_that_a_workspace_keeps_at_its_top_resolve_as_in_place(workspace: Path) -> None:
    broken = defect("src/calc.js", NODE_BROKEN)
    through_itself = NODE_CANDIDATE.replace("../src/calc.js", "@w/a")
    accepts(workspace, patch({"test/zero.test.js": through_itself}, heldOutDefects=[broken]))


@needs_node
def test_a_runner_that_a_workspace_keeps_at_its_top_is_started(workspace: Path) -> None:
    runner = workspace.parent.parent / "node_modules/.bin/run-tests"
    write(runner.parent, {"run-tests": '#!/bin/sh\nexec node --test --test-reporter=junit "$@"\n'})
    runner.chmod(0o755)
    argv = ["node_modules/.bin/run-tests", "--test-reporter-destination={junit}", "{files}"]
    write(workspace, {"tddswarm.config.json": json.dumps({"adapter": "node", "runner": argv})})
    accepts(workspace, patch({"test/zero.test.js": NODE_CANDIDATE}))


@needs_node
def test_committed_packages_are_copied_and_the_others_linked(tmp_path: Path) -> None:
    imports = "import {ten} from 'ten';\nimport {one} from 'one';\n"
    files = {
        "package.json": '{"type": "module"}',
        "src/calc.js": NODE_SOURCE,
        "test/calc.test.js": imports + NODE_ORIGINAL,
        "node_modules/ten/index.js": "export const ten = 10;\n",
        "node_modules/ten/package.json": '{"type": "module"}',
        "node_modules/ten/test/ten.test.js": "throw new Error('not ours');\n",
    }
    root = make_project(tmp_path / "shop", files, {"runner": ["node", "--test", "{files}"], "adapter": "node"})
    git(root, "add", "-A")
    write(root, {"node_modules/one/index.js": "export const one = 1;\n", "node_modules/one/package.json": "{}"})
    write(root, {"node_modules/one/package.json": '{"type": "module"}'})
    broken = defect("src/calc.js", NODE_BROKEN)
    accepts(root, patch({"test/zero.test.js": NODE_CANDIDATE}, heldOutDefects=[broken]))


def test_a_new_file_where_it_would_be_no_source_is_refused(tmp_path: Path) -> None:
    root = pytest_project(tmp_path / "shop", **{"build/test_kept.py": "def test_kept(): pass\n"})
    git(root, "add", "-A")
    assert evidence.stage(root, patch({"build/test_kept.py": "def test_kept(): assert 1\n"}))
    with pytest.raises(Refusal, match=r"path-refused: files\[0\] is 'build/test_new\.py'"):
        evidence.stage(root, patch({"build/test_new.py": "def test_new(): pass\n"}))
