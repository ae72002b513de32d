"""Git is asked about the folder that is meant, whatever whoever started us had in mind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import QUERY, Project, is_alive, wait_until
from hypothesis import example, given, settings
from hypothesis import strategies as st
from testlore.cache import Cache
from testlore.errors import Unusable
from testlore.evaluate import questions
from testlore.project import git, snapshot

SLOW = 20  # seconds; far above what ending git may take


def run_git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid", *arguments], cwd=folder, check=True)


def test_git_is_asked_without_inherited_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, other = tmp_path / "here", tmp_path / "other"
    for folder in (here, other):
        folder.mkdir()
        run_git(folder, "init", "-q")
        (folder / f"{folder.name}.txt").write_text("")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert git.ask(str(here), "ls-files", "--others") == b"here.txt\n"


def test_a_recall_in_a_hook_of_a_linked_worktree_sees_that_worktree(project: Project, tmp_path: Path) -> None:
    run_git(project.root, "init", "-q")
    run_git(project.root, "add", "-A")
    run_git(project.root, "commit", "-qm", "all")
    run_git(project.root, "worktree", "add", "-q", str(tmp_path / "linked"))
    linked = Project(tmp_path / "linked", {"GIT_INDEX_FILE": str(project.root / ".git/worktrees/linked/index")})
    plain = Project(linked.root).ask()["records"]
    hook = linked.with_env(GIT_DIR=str(project.root / ".git"), GIT_PREFIX="").ask()["records"]
    assert [record["compatibilityReasons"] for record in hook] == [record["compatibilityReasons"] for record in plain]
    assert hook == plain


def test_where_git_knows_nothing_the_answer_is_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert git.ask(str(tmp_path), "ls-files") == b""
    assert git.ask(str(tmp_path / "missing"), "ls-files") == b""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git.ask(str(tmp_path), "--version") == b""


def test_a_question_that_was_asked_before_a_fork_is_asked_anew(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    (tmp_path / "a.txt").write_text("")
    question = git.Question(str(tmp_path), "ls-files", "--others")
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, question.answer())
        question.end()
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 100) == b"a.txt\n"
    assert question.answer() == b"a.txt\n"


@pytest.fixture
def stuck_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ``git`` that answers too late, as a script that starts the real one. It says which process that is."""
    script = tmp_path / "bin" / "git"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nsleep {SLOW} &\necho $! > "{tmp_path}/started"\nwait\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "started"


def test_a_git_that_is_stuck_is_ended_with_what_it_started(
    tmp_path: Path, stuck_git: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "_SECONDS", 1)
    begin = time.monotonic()
    assert git.ask(str(tmp_path), "ls-files") == b""
    assert time.monotonic() < begin + SLOW / 2
    assert wait_until(lambda: not is_alive(int(stuck_git.read_text())))


def test_an_interrupted_recall_leaves_no_git_behind(project: Project, stuck_git: Path) -> None:
    argv = [sys.executable, "-m", "testlore", "recall", QUERY]
    with subprocess.Popen(argv, cwd=project.root, stderr=subprocess.PIPE) as recall:
        assert wait_until(lambda: stuck_git.exists() and bool(stuck_git.read_text()))
        time.sleep(0.5)  # by now it waits for git
        recall.send_signal(signal.SIGTERM)
        assert recall.wait(SLOW / 2) == 128 + signal.SIGTERM
    assert wait_until(lambda: not is_alive(int(stuck_git.read_text())))


ODD = [
    b"\0",
    b"a.py\0",
    b"H a.py\0",
    b"h \0",
    b"\n",
    b"\xff",
    b"../",
    b"/",
    b"\x01",
    b"\x01abc x a test",
    b"1 ",
    b"9" * 5_000,
]
ODD += [b"+++ b/tests/test_a.py\n", b"@@ -1 +1,", b" @@\n", b"+def test_a():\n", b".git/index"]


@given(st.lists(st.sampled_from(ODD) | st.binary(max_size=9), max_size=9).map(b"".join))
@example(b"\0")
@example(b"\x01\n")
@example(b"\x01abc x a test\n")
@example(b"@@ -1 +1," + b"9" * 5_000 + b" @@\n")
@settings(deadline=None, max_examples=settings().max_examples // 10)
def test_whatever_calls_itself_git_and_prints_anything_is_understood_or_refused(
    talking_git: Path, printed: bytes
) -> None:
    talking_git.with_name("printed").write_bytes(printed)
    root = talking_git.parent
    for large in (0, 2_000):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(snapshot, "_LARGE", large)
            sources = snapshot.Scan(str(root), ["a.py"], Cache(str(root))).snapshot()
        assert "" not in sources.files()
    with contextlib.suppress(Unusable):
        questions.read(str(root))


@pytest.fixture(scope="module")
def talking_git(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A ``git`` that answers every question with the bytes of the file ``printed`` beside it."""
    script = tmp_path_factory.mktemp("talking") / "git"
    script.write_text('#!/bin/sh\nexec cat "${0%/*}/printed"\n')
    script.chmod(0o755)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
        yield script
