"""Asks git about a folder, without changing anything in it.

Git never gets the ``GIT_*`` variables of our own environment. In a hook of a linked worktree these include ``GIT_DIR``,
and git would answer for another work tree.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping

_SECONDS = 60
_MAX_SAID_CHARACTERS = 300


class Failure(Exception):
    """Git gave no answer. The text says why, on one line: what git said, where it said anything."""


def environment() -> Mapping[str, str]:
    """Our environment without ``GIT_*`` variables. Git takes no optional lock, and asks for no password."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}


class Question:
    """A git command that runs while the caller goes on.

    Args:
        folder: the working directory of git.
        arguments: as after ``git``.
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
                ["git", *self._arguments],
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
