"""Safe paths and frameworks of real projects."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from testlore.errors import UnsafePath
from testlore.project import safe_files
from testlore.project.settings import Settings


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


@pytest.mark.parametrize(
    ("runner", "framework"),
    [
        (("python", "-m", "pytest", "{files}"), "pytest"),
        ((".venv/bin/pytest", "{files}"), "pytest"),
        (("python3", "-m", "unittest", "{files}"), "unittest"),
        (("npx", "vitest", "run", "{files}"), "vitest"),
        (("node", "node_modules/jest/bin/jest.js", "{files}"), "jest"),
        (("node", "--test", "{files}"), "node"),
        (("make", "{files}"), "custom"),
    ],
)
def test_the_runner_tells_the_framework(tmp_path: Path, runner: tuple[str, ...], framework: str) -> None:
    assert safe_files.framework(str(tmp_path), Settings(runner=runner)) == framework
    assert safe_files.framework(str(tmp_path), Settings(runner=runner, adapter="jest")) == "jest"


@pytest.mark.parametrize(
    ("files", "framework"),
    [
        ({"package.json": "{}"}, "node"),
        ({"package.json": '{"devDependencies": {"vitest": "3"}}'}, "vitest"),
        ({"package.json": "{}", "jest.config.mjs": ""}, "jest"),
        ({"pyproject.toml": "[tool.pytest.ini_options]"}, "pytest"),
        ({"tests/conftest.py": ""}, "pytest"),
        ({"setup.py": ""}, "unittest"),
        ({"Makefile": ""}, "custom"),
    ],
)
def test_the_files_tell_the_framework(tmp_path: Path, files: dict[str, str], framework: str) -> None:
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)
    assert safe_files.framework(str(tmp_path), Settings()) == framework
