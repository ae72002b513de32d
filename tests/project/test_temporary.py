"""Temporary folders: they go with their owner, and nobody else's are touched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers import without_powers
from testlore.project import temporary

HOLD = "from testlore.project import temporary\nwith temporary.in_system() as at:\n    print(at, flush=True); input()"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr("tempfile.tempdir", None)
    return place


def owner() -> tuple[subprocess.Popen[str], Path]:
    """A process that holds a temporary folder, with a file in it."""
    process = subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    at = Path(process.stdout.readline().strip())
    (at / "sub").mkdir()
    (at / "sub/file").write_text("x")
    return process, at


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_a_folder_is_ours_alone_and_removed_at_the_end(place: Path) -> None:
    with temporary.in_system() as at:
        assert Path(at).parent == place
        assert Path(at).stat().st_mode & 0o777 == 0o700
    assert list(place.iterdir()) == []


def test_what_a_killed_owner_left_is_swept_and_what_a_live_one_holds_is_not(place: Path) -> None:
    (dead, left), (alive, held) = owner(), owner()
    end(dead)
    os.utime(held, (0, 0))  # age says nothing
    with temporary.in_system():
        assert not left.exists()
        assert (held / "sub/file").exists()
    end(alive)
    with temporary.in_system():
        pass
    assert list(place.iterdir()) == []


def test_a_folder_without_rights_is_swept(place: Path) -> None:
    process, left = owner()
    end(process)
    (left / "sub").chmod(0)
    sweep = "from testlore.project import temporary\nwith temporary.in_system(): pass"
    subprocess.run([sys.executable, "-c", sweep], preexec_fn=without_powers, check=True)
    assert list(place.iterdir()) == []


NOT_OURS = ("testlore-notes", "testlore-1234567.tmp", "testlore-1234567g.tmp", "testlore-12345678", "x-12345678.tmp")


def test_nothing_else_is_swept(place: Path, tmp_path: Path) -> None:
    for name in NOT_OURS:
        (place / name).mkdir()
        os.utime(place / name, (0, 0))
    target = tmp_path / "target"
    target.mkdir()
    (target / "precious").touch()
    (place / "testlore-00000000.tmp").symlink_to(target)
    (place / "testlore-00000001.tmp").touch()
    before = sorted(os.listdir(place))
    with temporary.in_system():
        pass
    assert sorted(os.listdir(place)) == before
    assert (target / "precious").exists()


def test_a_link_in_what_is_swept_leads_nowhere(place: Path, tmp_path: Path) -> None:
    process, left = owner()
    target = tmp_path / "target"
    target.mkdir(mode=0o555)
    (left / "sub/link").symlink_to(target)
    end(process)
    (left / "sub").chmod(0o500)
    sweep = "from testlore.project import temporary\nwith temporary.in_system(): pass"
    subprocess.run([sys.executable, "-c", sweep], preexec_fn=without_powers, check=True)
    assert list(place.iterdir()) == []
    assert target.stat().st_mode & 0o777 == 0o555


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a folder away")
def test_another_users_folder_is_not_swept(place: Path) -> None:
    theirs = place / "testlore-00000000.tmp"
    theirs.mkdir()
    os.chown(theirs, 65534, 65534)
    with temporary.in_system():
        pass
    assert theirs.exists()


def test_many_owners_and_sweepers_at_once_take_nothing_from_each_other(place: Path) -> None:
    def work(number: int) -> None:
        for _ in range(30):
            with temporary.in_system() as at:
                Path(at, "file").write_text(str(number))
                assert Path(at, "file").read_text() == str(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert list(place.iterdir()) == []


def test_a_sweep_between_making_and_locking_only_takes_another_name(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = temporary._lock
    swept: list[str] = []

    def late(path: str) -> int | None:
        if not swept:
            swept.append(path)
            shutil.rmtree(path)
        return lock(path)

    monkeypatch.setattr(temporary, "_lock", late)
    with temporary.in_system() as at:
        assert os.path.isdir(at)
        assert [at] != swept


def test_the_folder_that_a_person_named_is_used_even_if_another_has_more_room(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert temporary.place() == str(place)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    assert temporary.place() != str(tmp_path / "nowhere")
    link = tmp_path / "link"
    link.symlink_to(place)
    monkeypatch.setenv("TMPDIR", str(link))
    assert temporary.place() == str(place)
