"""Safe paths, listings, provenance and frameworks of real projects."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from pipeline import canonical, project
from pipeline.errors import UnsafePath
from pipeline.settings import Settings


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments], cwd=root, check=True)


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "..", "a/../b", "a//b", "./a", "a/.", "a\\b", "a\0b", "C:/x", "a/"]
)
def test_a_path_that_is_not_plain_and_relative_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(UnsafePath):
        project.safe_path(str(tmp_path), path)


def test_a_link_anywhere_on_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("x")
    (tmp_path / "linked").symlink_to("real")
    (tmp_path / "real" / "link").symlink_to("file")
    assert project.read_file(str(tmp_path), "real/file", 10) == b"x"
    for path in ("linked/file", "real/link", "linked/missing"):
        with pytest.raises(UnsafePath, match="symbolic link"):
            project.read_file(str(tmp_path), path, 10)


def test_a_pipe_is_no_file_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnsafePath, match="not a regular file"):
        project.read_file(str(tmp_path), "pipe", 10)


def make(root: Path) -> None:
    for path in (
        "src/a.py",
        "zwölf.py",
        "test/t.py",
        "node_modules/m/i.js",
        "dist/x.js",
        ".venv/lib/y.py",
        "ignored.txt",
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)
    (root / ".gitignore").write_text("ignored.txt\n")
    (root / "link.py").symlink_to("src/a.py")
    (root / "\U0001f600.py").write_text("astral")
    (root / "\uffee.py").write_text("bmp")


def test_the_snapshot_holds_what_git_tracks_or_does_not_ignore_in_utf16_order(tmp_path: Path) -> None:
    make(tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "src")
    files = project.snapshot(str(tmp_path))
    # In UTF-16 an astral character begins with a surrogate, which sorts before U+FFEE.
    assert list(files) == [".gitignore", "src/a.py", "test/t.py", "zwölf.py", "\U0001f600.py", "\uffee.py"]
    assert files["src/a.py"] == hashlib.sha256(b"src/a.py").hexdigest()


def test_without_git_every_file_counts(tmp_path: Path) -> None:
    make(tmp_path)
    assert "ignored.txt" in project.snapshot(str(tmp_path))
    assert not any("node_modules" in path or ".venv" in path for path in project.snapshot(str(tmp_path)))


def test_a_project_in_a_folder_of_a_repository_sees_its_own_files_only(tmp_path: Path) -> None:
    make(tmp_path / "inner")
    git(tmp_path, "init", "-q")
    (tmp_path / "outer.py").write_text("x")
    assert "outer.py" not in project.snapshot(str(tmp_path / "inner"))
    assert "src/a.py" in project.snapshot(str(tmp_path / "inner"))


def test_a_project_that_the_repository_around_it_ignores_is_walked(tmp_path: Path) -> None:
    make(tmp_path / "inner")
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("inner/\n")
    assert "src/a.py" in project.snapshot(str(tmp_path / "inner"))


def test_provenance_tells_sources_services_and_runner_apart(tmp_path: Path) -> None:
    make(tmp_path)
    root, settings = str(tmp_path), Settings(services={"db": "15"})
    first = project.provenance(root, settings)
    assert first.source_hash == canonical.digest(project.snapshot(root))
    assert first.services_hash == canonical.digest({"db": "15"})
    assert project.provenance(root, settings) == first
    services = project.provenance(root, settings._replace(services={"db": "16"}))
    assert (services.runner, services.source_hash) == (first.runner, first.source_hash)
    assert services.services_hash != first.services_hash
    runner = project.provenance(root, settings._replace(environment={"TZ": "UTC"}))
    assert (runner.services_hash, runner.source_hash) == (first.services_hash, first.source_hash)
    assert runner.runner != first.runner
    (tmp_path / "src/a.py").write_text("changed")
    sources = project.provenance(root, settings)
    assert (sources.services_hash, sources.runner) == (first.services_hash, first.runner)
    assert sources.source_hash != first.source_hash
    (tmp_path / "uv.lock").write_text("a lock file decides how tests run")
    assert project.provenance(root, settings).runner != first.runner


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
    assert project.framework(str(tmp_path), Settings(runner=runner)) == framework
    assert project.framework(str(tmp_path), Settings(runner=runner, adapter="jest")) == "jest"


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
    assert project.framework(str(tmp_path), Settings()) == framework
