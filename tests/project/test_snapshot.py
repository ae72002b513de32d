"""The snapshot of a project's sources, and the provenance made of it, with real git repositories."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from testlore import canonical, frameworks
from testlore.cache import Cache
from testlore.project import listing, provenance, snapshot
from testlore.project.settings import Settings

IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@t")
NAMES: tuple[str, ...] = (
    "a.py",
    "b.py",
    "folder/c.py",
    "folder/zwölf.py",
    "\U0001f600.py",
    "new.py",
    "ignored.tmp",
    "2",
    "10",
)
NAMES += ("build/t.py", "build/made.py", "env/pyvenv.cfg", "env/x.py", "ext/s.py")
GIT_COMMANDS = (
    ("add", "-A"),
    ("commit", "-qam", "more"),
    ("checkout", "-q", "--", "."),
    ("update-index", "--assume-unchanged", "a.py"),
    ("status", "-s"),
)
names = st.sampled_from(NAMES)
contents = st.sampled_from(["", "first", "other", "longer than the first"])


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *IDENTITY, *arguments], cwd=root, check=True)


def files_of(root: Path) -> dict[str, str]:
    return snapshot.Scan(str(root), ()).snapshot().files()


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
    files = files_of(tmp_path)
    # In UTF-16 an astral character begins with a surrogate, which sorts before U+FFEE.
    assert list(files) == [".gitignore", "src/a.py", "test/t.py", "zwölf.py", "\U0001f600.py", "\uffee.py"]
    assert files["src/a.py"] == hashlib.sha256(b"src/a.py").hexdigest()


def test_without_git_every_file_counts(tmp_path: Path) -> None:
    make(tmp_path)
    assert "ignored.txt" in files_of(tmp_path)
    assert not any("node_modules" in path or ".venv" in path for path in files_of(tmp_path))


@pytest.mark.parametrize("in_git", [False, True])
def test_the_database_that_a_run_of_doit_writes_is_no_source(tmp_path: Path, in_git: bool) -> None:
    make(tmp_path)
    if in_git:
        git(tmp_path, "init", "-q")
    before = files_of(tmp_path)
    for name in (".doit.db", ".doit.db.db", ".doit.db.dat", ".doit.db-journal", "src/.doit.db"):
        (tmp_path / name).write_bytes(b"state")
    assert files_of(tmp_path) == before
    (tmp_path / ".doit.db.py").write_text("a source")
    assert files_of(tmp_path).keys() - before.keys() == {".doit.db.py"}


def test_a_file_in_a_conflict_is_listed_once(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("ours")
    git(tmp_path, "init", "-qb", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    git(tmp_path, "checkout", "-qb", "theirs")
    (tmp_path / "a.py").write_text("theirs")
    git(tmp_path, "commit", "-qam", "two")
    git(tmp_path, "checkout", "-q", "main")
    (tmp_path / "a.py").write_text("other")
    git(tmp_path, "commit", "-qam", "three")
    with pytest.raises(subprocess.CalledProcessError):
        git(tmp_path, "merge", "-q", "theirs")
    assert listing.paths(str(tmp_path)) == ["a.py"]
    assert files_of(tmp_path).keys() == {"a.py"}


def test_a_project_in_a_folder_of_a_repository_sees_its_own_files_only(tmp_path: Path) -> None:
    make(tmp_path / "inner")
    git(tmp_path, "init", "-q")
    (tmp_path / "outer.py").write_text("x")
    assert "outer.py" not in files_of(tmp_path / "inner")
    assert "src/a.py" in files_of(tmp_path / "inner")


def test_a_project_that_the_repository_around_it_ignores_is_walked(tmp_path: Path) -> None:
    make(tmp_path / "inner")
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("inner/\n")
    assert "src/a.py" in files_of(tmp_path / "inner")


def test_provenance_tells_sources_services_and_runner_apart(tmp_path: Path) -> None:
    make(tmp_path)
    root, configured, framework = str(tmp_path), Settings(services={"db": "15"}), frameworks.framework("pytest")
    first = provenance.take(root, configured, framework)
    assert first.source_hash == canonical.digest(files_of(tmp_path))
    assert first.services_hash == canonical.digest({"db": "15"})
    assert provenance.take(root, configured, framework) == first
    services = provenance.take(root, configured._replace(services={"db": "16"}), framework)
    assert (services.runner, services.source_hash) == (first.runner, first.source_hash)
    assert services.services_hash != first.services_hash
    runner = provenance.take(root, configured._replace(environment={"TZ": "UTC"}), framework)
    assert (runner.services_hash, runner.source_hash) == (first.services_hash, first.source_hash)
    assert runner.runner != first.runner
    (tmp_path / "src/a.py").write_text("changed")
    sources = provenance.take(root, configured, framework)
    assert (sources.services_hash, sources.runner) == (first.services_hash, first.runner)
    assert sources.source_hash != first.source_hash
    (tmp_path / "uv.lock").write_text("a lock file decides how tests run")
    assert provenance.take(root, configured, framework).runner != first.runner


def test_the_tool_files_of_another_framework_do_not_change_the_runner(tmp_path: Path) -> None:
    make(tmp_path)
    node, custom = frameworks.framework("node"), frameworks.framework("custom")
    before = [provenance.take(str(tmp_path), Settings(), framework) for framework in (node, custom)]
    assert before[0].runner != before[1].runner
    (tmp_path / "uv.lock").write_text("of Python")
    after = [provenance.take(str(tmp_path), Settings(), framework) for framework in (node, custom)]
    assert after[0].runner == before[0].runner
    assert after[1].runner != before[1].runner
    assert after[0].source_hash != before[0].source_hash


class Edits(RuleBasedStateMachine):
    """Whatever happens to a project's files, the remembered snapshot is what reading all of them gives."""

    with_git = True

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        for path in (*NAMES[:4], "build/t.py"):
            self.write(path, "first")
        if self.with_git:
            git(self.root, "init", "-q")
            git(self.root, "init", "-q", "ext")
            git(self.root / "ext", "commit", "-qm", "first", "--allow-empty")
            (self.root / ".gitignore").write_text("*.tmp\n")
            git(self.root, "add", ".")
            git(self.root, "commit", "-qm", "first")

    def teardown(self) -> None:
        self.folder.cleanup()

    def write(self, path: str, content: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        if (self.root / path).is_symlink():
            (self.root / path).unlink()
        (self.root / path).write_text(content)

    @rule(path=names, content=contents)
    def edit(self, path: str, content: str) -> None:
        self.write(path, content)

    @rule(path=names, content=st.sampled_from(["aaaaa", "bbbbb", "ccccc"]))
    def edit_within_a_tick_and_restore_the_time(self, path: str, content: str) -> None:
        self.write(path, "first")
        found = (self.root / path).stat()
        self.compare()
        (self.root / path).write_text(content)
        os.utime(self.root / path, ns=(found.st_atime_ns, found.st_mtime_ns))

    @rule(path=names, age=st.integers(0, 100_000))
    def touch(self, path: str, age: int) -> None:
        if (self.root / path).exists():
            moment = time.time() - age
            os.utime(self.root / path, (moment, moment))

    @rule(path=names, other=names)
    def rename(self, path: str, other: str) -> None:
        if (self.root / path).exists():
            (self.root / other).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).replace(self.root / other)

    @rule(path=names, mode=st.sampled_from([0o600, 0o644, 0o755]))
    def change_mode(self, path: str, mode: int) -> None:
        if (self.root / path).exists():
            (self.root / path).chmod(mode)

    @rule(path=names)
    def delete(self, path: str) -> None:
        (self.root / path).unlink(missing_ok=True)

    @rule(path=names)
    def replace_by_a_link(self, path: str) -> None:
        (self.root / path).unlink(missing_ok=True)
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).symlink_to("nowhere.py")

    @rule(commands=st.lists(st.sampled_from(GIT_COMMANDS), max_size=2))
    def use_git(self, commands: list[tuple[str, ...]]) -> None:
        if self.with_git:
            for command in commands:
                subprocess.run(["git", *IDENTITY, *command], cwd=self.root, check=False, capture_output=True)

    @rule(more=st.sampled_from(["", "new.py\n", "folder/\n"]))
    def ignore(self, more: str) -> None:
        (self.root / ".gitignore").write_text(f"*.tmp\n{more}")

    @rule()
    def wait(self) -> None:
        """Let what was racily clean settle, as waiting for two seconds would."""
        time.sleep(0.01)

    @rule(name=st.sampled_from(["snapshot.json", "snapshot.files"]), content=st.sampled_from(["", "{}", "garbage"]))
    def spoil(self, name: str, content: str) -> None:
        path = self.root / ".tddswarm/learning/ruvector" / name
        if path.exists():
            path.write_text(content)

    @invariant()
    def compare(self) -> None:
        if hasattr(self, "root"):
            remembered = snapshot.Scan(str(self.root), NAMES, Cache(str(self.root))).snapshot()
            full = snapshot.Scan(str(self.root), NAMES).snapshot()
            assert remembered.digest == full.digest
            assert remembered.tools == full.tools
            assert remembered.files() == full.files()
            derived = remembered.derive("test", lambda files: canonical.digest(files))
            assert derived == full.digest


class EditsWithoutGit(Edits):
    with_git = False


@pytest.fixture(autouse=True, scope="module")
def _compare_with_the_index_from_the_first_file() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot, "_SMALL", 0)
        patch.setattr(snapshot, "_LARGE", 0)
        patch.setattr(snapshot, "_RACY_NS", 20_000_000)  # what this machine's file systems need
        yield


few = settings(max_examples=20, stateful_step_count=12, deadline=None)
TestEdits = Edits.TestCase
TestEdits.settings = few
TestEditsWithoutGit = EditsWithoutGit.TestCase
TestEditsWithoutGit.settings = few


def test_what_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    make(tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    time.sleep(0.05)
    cache = Cache(str(tmp_path))
    assert snapshot.Scan(str(tmp_path), (), cache).snapshot().read == 9
    assert snapshot.Scan(str(tmp_path), (), cache).snapshot().read == 0
    (tmp_path / "src/a.py").write_text("changed!")
    time.sleep(0.05)
    assert snapshot.Scan(str(tmp_path), (), cache).snapshot().read == 1
    assert snapshot.Scan(str(tmp_path), (), cache).snapshot().read == 0


def test_git_writes_nothing_for_us(tmp_path: Path) -> None:
    make(tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / ".git").rglob("*")}
    os.utime(tmp_path / "src/a.py", (1, 1))
    snapshot.Scan(str(tmp_path), (), Cache(str(tmp_path))).snapshot()
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / ".git").rglob("*")} == before


def test_other_tool_files_are_shown_though_no_file_changed(tmp_path: Path) -> None:
    make(tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    time.sleep(0.05)
    cache = Cache(str(tmp_path))
    for tools in (["src/a.py"], ["src/a.py"], ["src/b.py"], []):
        remembered = snapshot.Scan(str(tmp_path), tools, cache).snapshot()
        assert remembered.tools == snapshot.Scan(str(tmp_path), tools).snapshot().tools
