"""What the page on doit says that plain ``doit`` and ``doit clean`` do in a host."""

from __future__ import annotations

import pytest
from docs_helpers import examples
from helpers import Done, Project

_DOIT = "docs/doit-and-ci.md"


@pytest.fixture
def host(project: Project) -> Project:
    """The page's host with ``default_tasks``."""
    [dodo] = [example for example in examples(_DOIT) if example.marks.get("save") == "defaults/dodo.py"]
    (project.root / "dodo.py").write_text(dodo.text)
    return project


def doit(host: Project, *argv: str) -> Done:
    done = host.python("-m", "doit", *argv)
    assert done.returncode == 0, done.stderr
    return done


def test_default_tasks_alone_run_and_are_cleaned(host: Project) -> None:
    assert "index" not in doit(host).stdout
    assert not host.cache.exists()
    doit(host, "index")
    doit(host, "clean")
    assert host.database.exists()


@pytest.mark.parametrize("argv", [["clean", "index"], ["clean", "-a"]])
def test_the_cache_goes_where_it_is_cleaned_by_name_or_all_is_cleaned(host: Project, argv: list[str]) -> None:
    doit(host, "index")
    doit(host, argv[0], "-n", argv[1])
    assert host.database.exists()
    doit(host, *argv)
    assert not host.cache.exists()


def test_without_default_tasks_all_run_without_a_question_and_all_are_cleaned(host: Project) -> None:
    dodo = host.root / "dodo.py"
    mine = "def task_mine():\n    return {'actions': ['touch mine'], 'targets': ['mine'], 'clean': True}\n"
    dodo.write_text(f"from testlore.tasks import *\n\n\n{mine}")
    assert "records" not in doit(host).stdout
    assert host.database.exists()
    assert (host.root / "mine").exists()
    doit(host, "clean")
    assert not host.cache.exists()
    assert not (host.root / "mine").exists()
