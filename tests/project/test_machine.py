"""Marks: only this user on this machine can make them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import without_powers
from testlore.project import machine


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state/testlore"


def test_the_key_is_random_private_and_made_once(state: Path) -> None:
    mark = machine.mark("a", b"data")
    assert len(mark) == 64
    assert machine.mark("a", b"data") == mark
    assert stat.S_IMODE((state / "key").stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert len((state / "key").read_bytes()) == 32


def test_a_mark_is_of_one_name_and_one_text(state: Path) -> None:
    mark = machine.mark("a", b"data")
    assert machine.is_marked("a", b"data", mark)
    assert not machine.is_marked("b", b"data", mark)
    assert not machine.is_marked("a", b"data.", mark)
    assert not machine.is_marked("a", b"data", "")


def test_another_key_makes_other_marks(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = machine.mark("a", b"data")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    assert not machine.is_marked("a", b"data", mark)


@pytest.mark.parametrize("damage", ["readable", "short", "long", "link", "folder"])
def test_a_key_that_others_may_know_or_have_made_is_not_used(state: Path, tmp_path: Path, damage: str) -> None:
    state.mkdir(parents=True)
    key = state / "key"
    if damage == "folder":
        key.mkdir()
    elif damage == "link":
        (tmp_path / "elsewhere").write_bytes(bytes(32))
        (tmp_path / "elsewhere").chmod(0o600)
        key.symlink_to(tmp_path / "elsewhere")
    else:
        key.write_bytes(bytes({"short": 31, "long": 33}.get(damage, 32)))
        key.chmod(0o644 if damage == "readable" else 0o600)
    assert machine.mark("a", b"data") == ""
    assert not machine.is_marked("a", b"data", "")


def test_where_no_key_can_be_kept_there_is_no_mark(state: Path) -> None:
    state.parent.write_text("a file stands in the way")
    assert machine.mark("a", b"data") == ""


def test_another_users_key_is_not_used(state: Path) -> None:
    state.mkdir(parents=True)
    (state / "key").write_bytes(bytes(32))
    (state / "key").chmod(0o600)
    os.chown(state / "key", 65534, 65534)
    assert machine.mark("a", b"data") == ""


def test_many_that_make_the_key_at_once_get_the_same(state: Path) -> None:
    command = [sys.executable, "-c", "from testlore.project import machine; print(machine.mark('a', b'data'))"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    marks = {process.communicate()[0] for process in running}
    assert len(marks) == 1
    assert len(marks.pop().strip()) == 64
    assert os.listdir(state) == ["key"]


def test_a_relative_state_home_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert machine.folder() == str(tmp_path / ".local/state/testlore")


def test_without_rights_nothing_is_written(state: Path) -> None:
    code = "from testlore.project import machine; print(repr(machine.mark('a', b'data')))"
    state.parent.mkdir(mode=0o500)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, preexec_fn=without_powers, check=True
    )
    assert done.stdout == "''\n"
