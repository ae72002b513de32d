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


def hostile(root: Path, driver: str, setting: str, files: int) -> Path:
    """A repository whose configuration names a program for its files, and one that watches them.

    Args:
        driver: the name of its filter.
        setting: how it is configured; the program is ``%s``.
        files: how many files it has beside the filtered one.

    Returns:
        What the programs leave behind.
    """
    marker = root.parent / "a program ran"
    (root / "many").mkdir(parents=True)
    for number in range(files):
        (root / f"many/{number}.txt").touch()
    (root / "filtered.py").write_text("pass")
    os.utime(root / "filtered.py", (2e9, 2e9))  # written later than the index, for all that git can tell
    (root / ".gitattributes").write_text(f"filtered.py filter={driver}\n")
    run_git(root, "init", "-q")
    run_git(root, "add", "-A")
    program = f"touch '{marker}'; false"
    with open(root / ".git/config", "a") as config:
        config.write(f'[filter "{driver}"]\n{setting % program}\n[core]\nfsmonitor = "{program}"\n')
    return marker


@pytest.mark.parametrize("files", [0, snapshot._LARGE], ids=["few files", "many files"])
@pytest.mark.parametrize(
    ("driver", "setting"),
    [
        ("theirs", 'clean = "%s"'),
        ("theirs", 'process = "%s"\nclean = false\nrequired = true'),
        ("a=b.clean", 'clean = "%s"'),
        ("Ünder.score", 'clean = "%s"'),
    ],
    ids=["clean", "process", "equals sign", "other letters"],
)
def test_no_program_that_a_repository_names_runs_while_its_sources_are_read(
    tmp_path: Path, driver: str, setting: str, files: int
) -> None:
    root = tmp_path / "theirs"
    marker = hostile(root, driver, setting, files)
    cache, plain = Cache(str(root)), snapshot.Scan(str(root), ()).snapshot()
    for _ in range(2):
        assert snapshot.Scan(str(root), (), cache).snapshot().digest == plain.digest
    (root / "filtered.py").write_text("None")
    os.utime(root / "filtered.py", (2e9, 2e9))
    assert snapshot.Scan(str(root), (), cache).snapshot().digest != plain.digest
    assert not marker.exists()
    subprocess.run(["git", "diff-files"], cwd=root, check=False, capture_output=True)
    assert marker.exists(), "git itself would not have run it"


def test_where_git_cannot_say_which_filters_there_are_none_counts_as_off(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    assert git.filters_off(git.filters(str(tmp_path)))
    (tmp_path / ".git/config").write_text("[filter")
    assert git.filters_off(git.filters(str(tmp_path))) is None


def test_everything_that_git_calls_local_to_a_repository_redirects_it(tmp_path: Path) -> None:
    local = subprocess.run(["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True)
    names = [*local.stdout.split(), "GIT_CONFIG_GLOBAL", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0", "GIT_NAMESPACE"]
    assert [name for name in names if not git.redirects(name)] == []
    assert not any(map(git.redirects, ["GIT_EXEC_PATH", "GIT_AUTHOR_NAME", "GIT_COMMIT", "HOME"]))


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
