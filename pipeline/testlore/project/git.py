"""Asks git about a folder, without changing anything in it.

Git never gets the variables of our own environment that lead it elsewhere. In a hook of a linked worktree these include
``GIT_DIR``, and git would answer for another work tree.

The configuration of a repository may name programs, and whoever packed the folder may have written it. Git starts none
of them for us: every command gets :data:`OPTIONS` and :func:`environment`. They leave the filters of files (``clean``,
``process``). A command that compares the bytes of the work tree starts these, so it also needs :func:`filters_off`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping

#: What stands after ``git`` in every command: no pager, no file system monitor, no hook, and no transport. A command
#: that shows differences also needs ``--no-ext-diff`` and ``--no-textconv``.
OPTIONS = (
    *("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "protocol.allow=never", "-c", "log.showSignature=false"),
)

_SECONDS = 60
_MAX_SAID_CHARACTERS = 300


# What `git rev-parse --local-env-vars` names, in any version, and what changes what a path or a difference means.
_REDIRECTIONS = frozenset(
    (
        *("GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"),
        *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE"),
        *("GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_INTERNAL_SUPER_PREFIX"),
        *("GIT_NAMESPACE", "GIT_QUARANTINE_PATH", "GIT_ATTR_SOURCE", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS"),
        *("GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"),
    )
)
_REDIRECTING_CONFIGURATION = "GIT_CONFIG"  # begins the names of those that give git another configuration

# A filter that we name ourselves, since git fails where it finds none.
_FILTERS = (
    *("-c", "filter.testlore.clean=", "config", "-z", "--name-only"),
    *("--get-regexp", r"^filter\..*\.(clean|smudge|process)$"),
)


class Failure(Exception):
    """Git gave no answer. The text says why, on one line: what git said, where it said anything."""


def redirects(variable: str) -> bool:
    """Whether an environment variable leads git to another repository, work tree or configuration than the folder's."""
    return variable in _REDIRECTIONS or variable.startswith(_REDIRECTING_CONFIGURATION)


def environment() -> Mapping[str, str]:
    """Our environment without what redirects git.

    Git takes no optional lock, asks for no password, and fetches nothing.
    """
    kept = {name: value for name, value in os.environ.items() if not redirects(name)}
    fetches_nothing = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}
    return {**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", **fetches_nothing}


class Question:
    """A git command that runs while the caller goes on.

    Args:
        folder: the working directory of git.
        arguments: as after ``git``, without :data:`OPTIONS`.
    """

    def __init__(self, folder: str, *arguments: str) -> None:
        self._folder = folder
        self._arguments = arguments
        self._start()

    def _start(self) -> None:
        self._asked_by = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._why_not_started = "the question was ended"
        try:
            self._process = subprocess.Popen(
                ["git", *OPTIONS, *self._arguments],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
                start_new_session=True,
            )
        except OSError as error:  # there is no git, or no folder
            self._why_not_started = f"git cannot be started: {error.strerror}"

    def answer(self) -> bytes:
        """What git printed.

        Raises:
            Failure: git failed, does not know the folder, or took over a minute.
        """
        if self._asked_by != os.getpid():  # we are a fork of the process that asked, and git answers that one
            self._start()
        if self._process is None:
            raise Failure(self._why_not_started)
        process = self._process
        try:
            output, said = process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            raise Failure(f"git took over {_SECONDS} seconds") from None
        finally:  # also when we are interrupted
            self.end()
        if process.returncode:
            raise Failure(_on_one_line(said) or f"git ended with status {process.returncode}")
        return output

    def end(self) -> None:
        """End git, if it still works, and what it started: ``git`` may be a script that starts the real one."""
        process, self._process = self._process, None
        if process is None or self._asked_by != os.getpid():
            return
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def _on_one_line(said: bytes) -> str:
    text = " ".join(said.decode("utf-8", "replace").split())[:_MAX_SAID_CHARACTERS]
    return "".join(character if character.isprintable() else "?" for character in text)


def ask(folder: str, *arguments: str) -> bytes:
    """What a git command printed; empty when git gave no answer."""
    with contextlib.suppress(Failure):
        return Question(folder, *arguments).answer()
    return b""


def repository(folder: str) -> str:
    """The ``.git`` of the repository that a folder lies in, damaged or not; empty when it lies in none.

    Git looks upwards too, and no further than the file system reaches. It takes a damaged repository for none.
    """
    place = os.path.realpath(folder)
    with contextlib.suppress(OSError):
        device = os.stat(place).st_dev
        while os.stat(place).st_dev == device:
            found = os.path.join(place, ".git")
            if os.path.lexists(found) and not _is_empty(found):
                return found
            if place == os.path.dirname(place):
                break
            place = os.path.dirname(place)
    return ""


def _is_empty(path: str) -> bool:
    """Whether this is a folder with nothing in it, which is no repository: there is nothing that could be damaged."""
    try:
        return not os.listdir(path)
    except OSError:
        return False


def filters(folder: str) -> Question:
    """Ask which filters of files the configuration names, for :func:`filters_off`."""
    return Question(folder, *_FILTERS)


def filters_off(question: Question) -> tuple[str, ...] | None:
    """The options for git that switch every filter off; ``None`` where we cannot be sure of that.

    No option of git's switches off all filters, so each is named with nothing to run.

    Args:
        question: what :func:`filters` returned.
    """
    try:
        keys = os.fsdecode(question.answer()).split("\0")
    except Failure:
        return None
    names = {key.rpartition(".")[0] for key in keys if key}
    if any("=" in name for name in names):  # `-c` ends a name at its first =
        return None
    nothing = ("clean=", "smudge=", "process=", "required=false")
    return tuple(part for name in sorted(names) for key in nothing for part in ("-c", f"{name}.{key}"))
