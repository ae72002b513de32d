"""Safe paths and folders of real projects."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from testlore.errors import UnsafePath, Unusable
from testlore.project import safe_files


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "..", "a/../b", "a//b", "./a", "a/.", "a\\b", "a\0b", "C:/x", "a/"]
)
def test_a_path_that_is_not_plain_and_relative_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(UnsafePath):
        safe_files.safe_path(str(tmp_path), path)


def test_a_link_anywhere_on_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("x")
    (tmp_path / "linked").symlink_to("real")
    (tmp_path / "real" / "link").symlink_to("file")
    assert safe_files.read_file(str(tmp_path), "real/file", 10) == b"x"
    for path in ("linked/file", "real/link", "linked/missing"):
        with pytest.raises(UnsafePath, match="symbolic link"):
            safe_files.read_file(str(tmp_path), path, 10)


def test_a_pipe_is_no_file_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnsafePath, match="not a regular file"):
        safe_files.read_file(str(tmp_path), "pipe", 10)


def test_an_existing_folder_is_given_back_and_anything_else_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert safe_files.existing_folder(str(tmp_path)) == safe_files.existing_folder(tmp_path) == str(tmp_path)
    for wrong in (str(tmp_path / "file"), str(tmp_path / "gone"), "a\0b", b"/", 7, None):
        with pytest.raises(Unusable, match=r"call-invalid: repo is .*; allowed: an existing folder"):
            safe_files.existing_folder(wrong, "repo")
