"""Long work says what it does, how much of it is done, and for how long; short work says nothing."""

from __future__ import annotations

import json
import os
import pty
import re
import sys
import time
from pathlib import Path

import pytest
from evidence_helpers import patch, pytest_project
from helpers import Project
from testlore import cli, evidence, progress
from testlore.cache import Cache
from testlore.progress import Reporter
from testlore.project.snapshot import Scan


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes a twentieth of a second is long."""
    monkeypatch.setattr(progress, "_SECONDS", 0.05)


def test_short_work_is_not_shown() -> None:
    for waits in (False, True):
        shown: list[str] = []
        with Reporter(shown.append, waits=waits) as tell:
            tell("reading", 1, 2)
        assert shown == []


def test_long_work_is_shown_as_it_goes_on_and_cleared_at_its_end(at_once: None) -> None:
    shown: list[str] = []
    with Reporter(shown.append, waits=False) as tell:
        tell("reading", 1, 3)
        time.sleep(0.06)
        tell("reading", 2, 3)
        tell("reading", 3, 3)
    assert shown == ["reading: 2 of 3, 0 s", ""]


def test_work_that_waits_for_others_is_shown_meanwhile(at_once: None) -> None:
    shown: list[str] = []
    with Reporter(shown.append, waits=True) as tell:
        tell("waiting", 0, 0)
        time.sleep(0.3)
    assert len(shown) > 2
    assert set(shown) == {"waiting, 0 s", ""}


def test_every_step_of_a_validation_is_told(tmp_path: Path) -> None:
    root = pytest_project(tmp_path / "shop")
    told: list[tuple[str, int, int]] = []
    name = evidence.stage(root, patch(), lambda *step: told.append(step))
    assert ("reading the sources", 3, 3) in told
    told.clear()
    evidence.validate(root, name, lambda *step: told.append(step))
    files = {"listing the sources", "reading the sources", "copying the sources", "putting the copy back"}
    assert {re.sub(r"run \d of \d: .*", "runs", what) for what, _, _ in told} == {*files, "runs"}
    assert all(done <= of for _, done, of in told)


def test_a_validation_shows_itself_on_standard_error_alone(
    tmp_path: Path, at_once: None, capfd: pytest.CaptureFixture[str]
) -> None:
    root = pytest_project(tmp_path / "shop")
    name = evidence.stage(root, patch())
    assert cli.main(["validate", name, "--root", str(root), "--json"]) == 0
    said = capfd.readouterr()
    assert json.loads(said.out)["outcome"] == "accepted"
    assert all(re.fullmatch(r"testlore: [a-z].*, \d+ s", line) for line in said.err.splitlines())
    assert "run 1 of " in said.err


def test_a_recall_tells_of_the_sources_only_where_it_looks_at_them_all(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number}.py").touch()
        os.utime(tmp_path / f"{number}.py", (1e9, 1e9))
    told: list[tuple[str, int, int]] = []
    Scan(str(tmp_path), (), Cache(str(tmp_path)), lambda *step: told.append(step)).snapshot()
    assert told[-1][:2] == ("reading the sources", 300)


def test_on_a_terminal_each_line_takes_the_place_of_the_last(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    code = (
        "from testlore import progress; progress._SECONDS = 0\n"
        "from testlore.commands import output\n"
        "with output.working() as tell: tell('reading', 1, 2); tell('reading', 2, 2)\n"
    )
    try:
        Project(tmp_path).run(sys.executable, "-c", code, capture_output=False, stderr=theirs)
        os.close(theirs)
        shown = os.read(ours, 1000).decode()
    finally:
        os.close(ours)
    assert shown == "\rreading: 1 of 2, 0 s\x1b[K\rreading: 2 of 2, 0 s\x1b[K\r\x1b[K"
